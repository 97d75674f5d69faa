"use strict";
// Whatever comes from the text or the model is put in as textContent, never as markup.

const WAIT = 120;
const UNSURE = 0.8;
// Of the address that was printed; no request shows what stands behind its #.
const KEY = location.hash.slice(1);
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const box = document.getElementById("text");
const status_ = document.getElementById("status");
const sentences = document.getElementById("sentences");
const said = document.getElementById("said");
const panel = made("section", undefined, "panel open");
panel.tabIndex = -1;
let asking = null;
let timer = 0;
let columns = [];
let chosen = null;

function made(name, text, kind) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return element;
}

function say(text, isWrong) {
  status_.textContent = text;
  status_.className = isWrong ? "wrong" : "";
}

function counted(n, name) {
  return n.toLocaleString("en") + " " + name + (n === 1 ? "" : "s");
}

function signed(x) {
  return (x < 0 ? "−" : "+") + Math.abs(x).toFixed(3);
}

// Characters that cannot be seen, or that turn the direction of writing, are shown as escapes;
// joiners belong to some scripts.
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => c === "\u200c" || c === "\u200d" ? c
    : "\\u{" + c.codePointAt(0).toString(16) + "}");
}

async function ask() {
  if (asking) asking.abort();
  const mine = asking = new AbortController();
  const text = box.value;
  if (!text.trim()) {
    show({columns: [], sentences: []});
    say("Type a sentence.");
    return;
  }
  try {
    const reply = await fetch("/tag", {
      method: "POST",
      headers: {"Content-Type": "application/json", "Authorization": "Bearer " + KEY},
      body: JSON.stringify({text: text.toWellFormed ? text.toWellFormed() : text}),
      signal: mine.signal,
    });
    const found = await reply.json();
    if (mine !== asking) return;
    if (reply.ok) show(found);
    else say(found.error, true);
  } catch (error) {
    if (error.name !== "AbortError" && mine === asking) {
      say("The server does not answer; was it stopped?", true);
    }
  }
}

function show(found) {
  columns = found.columns;
  chosen = null;
  const words = found.sentences.flat();
  const groups = found.sentences.map((own, number) => {
    const group = made("div", undefined, "words");
    group.setAttribute("role", "radiogroup");
    group.setAttribute("aria-label", "Sentence " + (number + 1));
    group.dir = RIGHT_TO_LEFT.test(own.map((word) => word.word).join("")) ? "rtl" : "ltr";
    group.append(...own.map((word) => item(word, "s" + number)));
    return group;
  });
  sentences.replaceChildren(...groups);
  const unknown = words.filter((word) => !word.known).length;
  say(counted(words.length, "word") + " in " + counted(found.sentences.length, "sentence")
    + (unknown ? "; " + unknown + " not seen in training (dotted)" : ""));
  // The word that the tagger is least sure of is the one to look at first.
  let least = 0;
  words.forEach((word, i) => { if (doubt(word) > doubt(words[least])) least = i; });
  if (words.length) choose(sentences.querySelectorAll(".word")[least], words[least]);
}

function doubt(word) {
  const first = word.labels[columns[0]];
  if (first.confidence !== null) return 1 - first.confidence;
  return first.margin === null ? -Infinity : -first.margin;
}

function item(word, group) {
  const place = made("label", undefined, "word");
  const radio = made("input");
  radio.type = "radio";
  radio.name = group;
  place.append(radio, made("bdi", visible(word.word)));
  place.classList.toggle("new", !word.known);
  place.classList.toggle("glued", word.continues);
  for (const column of columns) {
    const one = word.labels[column];
    if (column === columns[0]) {
      place.append(made("b", visible(one.label)));
      if (one.confidence !== null) {
        place.append(made("small", (100 * one.confidence).toFixed(0) + " %"));
        place.classList.toggle("unsure", one.confidence < UNSURE);
      }
    } else if (column === "lemma") {
      place.append(made("i", visible(one.label)));
    } else if (one.label !== "_" && one.label !== word.labels[columns[0]].label) {
      place.append(label(one.label));
    }
  }
  radio.addEventListener("change", () => { choose(place, word); announce(word); });
  radio.addEventListener("keydown", (event) => key(event, place, word));
  return place;
}

// Of sets of features, each has a line.
function label(text) {
  const element = made("span", undefined, "more");
  element.append(...visible(text).split("|").map((part) => made("span", part)));
  return element;
}

function key(event, place, word) {
  const turned = place.parentElement.dir === "rtl" && /^Arrow(Left|Right)$/.test(event.key);
  if (turned) {
    const all = [...place.parentElement.querySelectorAll(".word")];
    const step = event.key === "ArrowLeft" ? 1 : -1;
    const next = all[(all.indexOf(place) + step + all.length) % all.length];
    next.querySelector("input").click();
    next.querySelector("input").focus();
    event.preventDefault();
  } else if (event.key === "Enter") {
    if (chosen !== place) choose(place, word);
    panel.focus();
    event.preventDefault();
  }
}

function close() {
  if (!chosen) return;
  const radio = chosen.querySelector("input");
  const isWithin = panel.contains(document.activeElement);
  radio.checked = false;
  chosen = null;
  panel.remove();
  if (isWithin) radio.focus();
}

function announce(word) {
  const one = word.labels[columns[0]];
  said.textContent = visible(word.word) + ": " + verdict(one)
    + (one.confidence === null ? "" : " Confidence " + (100 * one.confidence).toFixed(1) + " %.");
}

function choose(place, word) {
  if (chosen && chosen !== place) chosen.querySelector("input").checked = false;
  chosen = place;
  place.querySelector("input").checked = true;
  const title = made("h2", "Why ");
  title.append(made("bdi", visible(word.word)), "?");
  const end = made("button", "Close", "close");
  end.type = "button";
  end.addEventListener("click", close);
  const top = made("div", undefined, "top");
  top.append(title, end);
  const all = made("div", undefined, "reasons");
  const parts = columns.map((column, at) => reasons(column, word.labels[column], at));
  const others = made("div");
  others.append(...parts.slice(1));
  all.append(parts[0], others);
  panel.setAttribute("aria-label", "Why " + visible(word.word));
  panel.replaceChildren(top, made("p", (word.known ? "Seen in training." : "Not seen in training.")
    + (word.token ? " Part of " + visible(word.token) + "." : ""), "soft"), all);
  place.parentElement.append(panel);
  arrange();
}

// The explanation stands below the line of its word.
function arrange() {
  if (!chosen) return;
  const all = [...chosen.parentElement.querySelectorAll(".word")];
  panel.hidden = true;
  all.forEach((one) => { one.style.order = 0; });
  const bottom = chosen.offsetTop + chosen.offsetHeight;
  const after = all.map((one) => one.offsetTop >= bottom);
  all.forEach((one, i) => { one.style.order = after[i] ? 2 : 0; });
  panel.hidden = false;
}

function verdict(one) {
  let text = visible(one.label) + " scored " + one.score.toFixed(3);
  if (one.runner_up !== null) {
    text += ", the runner-up " + visible(one.runner_up) + " " + one.runner_up_score.toFixed(3)
      + ": margin " + signed(one.margin);
  }
  return text + ".";
}

// The first column is open; others say what they chose, and open on a click.
function reasons(column, one, at) {
  const sure = one.confidence === null ? "" : (100 * one.confidence).toFixed(1) + " %";
  const whole = made(at ? "details" : "div");
  if (at) {
    const head = made("summary", visible(column) + ": ");
    head.append(made("b", visible(one.label)), sure && " · " + sure);
    whole.append(head);
  } else if (columns.length > 1) whole.append(made("h3", visible(column)));
  whole.append(made("p", verdict(one) + (sure && " Confidence " + sure + ".")));
  if (one.note) whole.append(made("p", visible(one.note)));
  whole.append(table(one.features, column));
  return whole;
}

function table(features, column) {
  const whole = made("table", undefined, "why");
  whole.setAttribute("aria-label", "What each feature adds to the margin of " + visible(column)
    + ": + for the label, − for the runner-up");
  const body = document.createElement("tbody");
  const widest = Math.max(...features.filter((f) => !f.is_rest).map((f) => Math.abs(f.margin)), 0);
  for (const feature of features) {
    const row = document.createElement("tr");
    const name = made("th", visible(feature.text));
    name.scope = "row";
    if (feature.alike.length) name.append(made("small", "and " + feature.alike.join(", ")));
    row.append(name, made("td", signed(feature.margin)), bar(feature, widest));
    body.append(row);
  }
  whole.append(body);
  return whole;
}

function bar(feature, widest) {
  const cell = document.createElement("td");
  cell.setAttribute("aria-hidden", "true");
  if (widest && !feature.is_rest) {
    const part = made("i", undefined, "bar " + (feature.margin < 0 ? "against" : "for"));
    part.style.setProperty("--w", 100 * Math.abs(feature.margin) / widest);
    cell.append(part);
  }
  return cell;
}

box.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT);
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
addEventListener("resize", arrange);
box.focus();
box.select();
if (box.value) ask();
