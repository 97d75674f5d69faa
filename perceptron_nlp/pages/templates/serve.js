"use strict";
// Whatever comes from the text or the model is put in as textContent, never as markup.

const WAIT = 120;
const box = document.getElementById("text");
const status_ = document.getElementById("status");
const sentences = document.getElementById("sentences");
const why = document.getElementById("why");
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

// Characters that cannot be seen, or that turn the direction of writing, are shown as escapes.
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
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
      method: "POST", headers: {"Content-Type": "application/json"},
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
  const lists = found.sentences.map((words) => {
    const list = made("ol", undefined, "sentence");
    list.append(...words.map(item));
    return list;
  });
  sentences.replaceChildren(...lists);
  const words = found.sentences.flat();
  const unknown = words.filter((word) => !word.known).length;
  say(counted(words.length, "word") + " in " + counted(found.sentences.length, "sentence")
    + (unknown ? "; " + unknown + " not seen in training (dotted)" : ""));
  const buttons = [...sentences.querySelectorAll("button")];
  // The word that the tagger is least sure of is the one to look at first.
  let least = 0;
  words.forEach((word, i) => { if (doubt(word) > doubt(words[least])) least = i; });
  if (buttons.length) choose(buttons[least], words[least]);
  else why.hidden = true;
}

function doubt(word) {
  const first = word.labels[columns[0]];
  if (first.confidence !== null) return 1 - first.confidence;
  return first.margin === null ? -Infinity : -first.margin;
}

function item(word) {
  const button = made("button", undefined, word.known ? "word" : "word new");
  button.type = "button";
  button.setAttribute("aria-pressed", "false");
  button.append(made("bdi", visible(word.word)));
  for (const column of columns) {
    const one = word.labels[column];
    button.append(label(one.label, column === columns[0] ? "b" : "span"));
    if (one.confidence !== null) {
      button.append(made("small", (100 * one.confidence).toFixed(0) + " %"));
    }
  }
  button.addEventListener("click", () => choose(button, word));
  const place = document.createElement("li");
  place.append(button);
  return place;
}

// Sets of features are broken between them where they do not fit.
function label(text, kind) {
  const element = made(kind);
  visible(text).split("|").forEach((part, i) => {
    if (i) element.append("|", document.createElement("wbr"));
    element.append(part);
  });
  return element;
}

function choose(button, word) {
  if (chosen) chosen.setAttribute("aria-pressed", "false");
  chosen = button;
  button.setAttribute("aria-pressed", "true");
  const title = made("h2", "Why ");
  title.append(made("bdi", visible(word.word)), "?");
  const all = made("div", undefined, "reasons");
  all.append(...columns.map((column) => reasons(column, word.labels[column])));
  why.replaceChildren(title,
    made("p", word.known ? "Seen in training." : "Not seen in training.", "soft"), all);
  why.hidden = false;
}

function reasons(column, one) {
  const whole = document.createElement("div");
  const parts = [];
  if (columns.length > 1) parts.push(made("h3", visible(column)));
  let verdict = visible(one.label) + " scored " + one.score.toFixed(3);
  if (one.runner_up !== null) {
    verdict += ", the runner-up " + visible(one.runner_up) + " " + one.runner_up_score.toFixed(3)
      + ": margin " + signed(one.margin);
  }
  parts.push(made("p", verdict + "."));
  if (one.confidence !== null) {
    parts.push(made("p", "Confidence " + (100 * one.confidence).toFixed(1) + " %."));
  }
  if (one.note) parts.push(made("p", visible(one.note)));
  parts.push(table(one.features));
  whole.append(...parts);
  return whole;
}

function table(features) {
  const whole = document.createElement("table");
  whole.append(made("caption",
    "What each feature adds to the margin: + for the label, − for the runner-up"));
  const head = document.createElement("tr");
  for (const name of ["feature", "margin", ""]) {
    const cell = made(name ? "th" : "td", name);
    if (name) cell.scope = "col";
    head.append(cell);
  }
  const top = document.createElement("thead");
  top.append(head);
  const body = document.createElement("tbody");
  const widest = Math.max(...features.filter((f) => !f.is_rest)
    .map((f) => Math.abs(f.margin)), 0);
  for (const feature of features) {
    const row = document.createElement("tr");
    const name = made("th", visible(feature.text)
      + (feature.value === 1 ? "" : " × " + feature.value));
    name.scope = "row";
    row.append(name, made("td", signed(feature.margin)), bar(feature, widest));
    body.append(row);
  }
  whole.append(top, body);
  return whole;
}

function bar(feature, widest) {
  const cell = document.createElement("td");
  const track = made("span", undefined, "bar");
  track.setAttribute("aria-hidden", "true");
  const part = made("i", undefined, feature.margin < 0 ? "against" : "for");
  const share = feature.is_rest || !widest ? 0 : 50 * Math.abs(feature.margin) / widest;
  part.style.width = share + "%";
  track.append(part);
  cell.append(track);
  return cell;
}

box.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT);
});
if (box.value) ask();
