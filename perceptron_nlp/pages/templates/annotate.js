"use strict";
// Whatever comes from the text, the model or a file is put in as textContent, never as markup.

const $ = (id) => document.getElementById(id);
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const LETTER = /\p{L}/u;
const LIKELY = 9;
const SURE = 0.95;
const MOST_PARTS = 24;
// Of the address that was printed; no request shows what stands behind its #.
const KEY = location.hash.slice(1);
let state = null;
let task = null;
let labels = {};
let done = [];
let at = 0;
let edits = [];
let extras = {typos: {}, empty: []};
// Whether the cursor goes on after a label; null until the person says so.
let goesOn = null;
let busy = false;

function made(name, text, kind) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return element;
}

// Characters that cannot be seen, or that turn the direction of writing, are shown as escapes;
// joiners belong to some scripts.
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => c === "\u200c" || c === "\u200d" ? c
    : "\\u{" + c.codePointAt(0).toString(16) + "}");
}

function percent(share, digits) {
  return (100 * share).toFixed(digits === undefined ? 1 : digits) + " %";
}

function counted(n) {
  return n.toLocaleString("en");
}

function say(text, isWrong) {
  $("status").textContent = text;
  $("status").className = isWrong ? "wrong" : "";
}

async function ask(path, question) {
  const reply = await fetch(path, {
    method: "POST",
    headers: {"Content-Type": "application/json", "Authorization": "Bearer " + KEY},
    body: JSON.stringify(question),
  });
  const found = await reply.json();
  if (!reply.ok) throw new Error(found.error);
  return found;
}

async function act(action, values) {
  if (busy) return;
  busy = true;
  const slow = setTimeout(() => say("One moment …"), 400);
  try {
    const found = await ask("/act", {turn: state.turn, action, values: values || {}});
    clearTimeout(slow);
    show(found);
    say(found.said || found.messages.filter((one) => !told.has(one)).join(" "));
    found.messages.forEach((one) => told.add(one));
  } catch (error) {
    clearTimeout(slow);
    const failed = error instanceof TypeError;
    say(failed ? "The program does not answer; was it stopped? What you accepted is in the file."
      : error.message, true);
    if (!failed) {
      // What the person did stays, unless the sentence is another one now.
      const now = await ask("/look", {}).catch(() => null);
      if (now && now.turn !== state.turn) show(now);
    }
  } finally {
    busy = false;
  }
}
const told = new Set();

function show(found) {
  const before = task;
  const kept = edited();
  state = found;
  task = found.task;
  edits = [];
  extras = task ? structuredClone(task.extras) : {typos: {}, empty: []};
  for (const id of ["before", "after"]) $(id).textContent = task ? visible(task[id]) : "";
  $("goes-on").checked = isGoingOn();
  $("work").hidden = !task;
  for (const id of ["accept", "skip", "show-note"]) $(id).disabled = !task;
  $("against").hidden = !found.against;
  $("reviewing").hidden = !found.reviewed;
  $("finished").hidden = Boolean(task);
  $("guideline").hidden = !found.guideline;
  $("guideline").querySelector("pre").textContent = found.guideline || "";
  $("file").textContent = found.file || "";
  showProgress(found.progress);
  showAgreement(found.agreement);
  if (!task) {
    $("origin").textContent = "";
    showFinished();
    return;
  }
  labels = {};
  for (const column of found.columns) labels[column] = [...task.labels[column]];
  done = task.words.map(() => task.origin === "again" || task.origin === "review");
  // What was set before tokens were cut otherwise stays with the words that are the same.
  const isCut = before && before.name === task.name && before.words !== task.words;
  if (isCut) keep(kept);
  const doubted = Object.keys(task.doubts).map(Number).sort((a, b) => a - b);
  const here = isCut ? places(before.words)[at] : 0;
  at = doubted.length ? doubted[0] : places(task.words).findLastIndex((place) => place <= here);
  $("note").value = task.note;
  $("noted").hidden = !task.note;
  showOrigin();
  showSentence();
}

function places(words) {
  let place = 0;
  return words.map((word) => (place += word.length) - word.length);
}

function edited() {
  const found = new Map();
  if (!task) return found;
  places(task.words).forEach((place, i) => {
    const own = {};
    for (const column of state.columns) own[column] = labels[column][i];
    if (done[i]) found.set(place + " " + task.words[i], own);
  });
  return found;
}

function keep(found) {
  places(task.words).forEach((place, i) => {
    const own = found.get(place + " " + task.words[i]);
    if (!own) return;
    done[i] = true;
    for (const column of state.columns) labels[column][i] = own[column];
  });
}

function fact(name, value, more) {
  const pair = made("div");
  const shown = made("dd", value);
  if (more) shown.append(" ", made("small", more));
  pair.append(made("dt", name), shown);
  return pair;
}

function showProgress(p) {
  const facts = [fact("tokens annotated", counted(p.tokens))];
  if (p.corrections_per_100 !== null) {
    facts.push(fact("corrected of 100", p.corrections_per_100.toFixed(0)));
  }
  // Two or three sentences say next to nothing.
  const known = p.estimate && p.estimate.high - p.estimate.low < 0.3;
  if (known) {
    facts.push(fact("estimated accuracy", percent(p.estimate.share),
      percent(p.estimate.low) + " – " + percent(p.estimate.high)));
  }
  const draft = p.draft[state.columns[0]];
  if (draft) {
    facts.push(fact("of the draft were right", percent(draft.share),
      percent(draft.low, 0) + " – " + percent(draft.high, 0)));
  }
  if (known && p.after_1000 !== null) facts.push(fact("after 1,000 more", "≈ " + percent(p.after_1000)));
  if (p.tokens_an_hour !== null) {
    facts.push(fact("tokens an hour", counted(Math.round(p.tokens_an_hour)),
      !known || p.after_an_hour === null ? "" : "→ " + percent(p.after_an_hour)));
  }
  if (p.stop) facts.push(fact("more brings little", "You may stop here."));
  $("facts").replaceChildren(...facts);
  $("curve").replaceChildren(...(known && p.curve.length > 1 ? [curve(p.curve, p.estimate)] : []));
}

function curve(points, now) {
  const width = 176, height = 42;
  const drawn = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const last = points[points.length - 1];
  const low = Math.min(...points.map(([, share]) => share)) - 0.02;
  const high = Math.max(...points.map(([, share]) => share)) + 0.02;
  const x = (n) => (4 + (width - 8) * n / last[0]).toFixed(1);
  const y = (share) => (height - height * (Math.min(Math.max(share, low), high) - low)
    / (high - low)).toFixed(1);
  const svg = drawn("svg", {viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Estimated accuracy: ${percent(points[0][1])} at ${counted(points[0][0])}`
      + ` tokens, ${percent(last[1])} at ${counted(last[0])}`});
  const end = x(last[0]);
  svg.append(drawn("line", {x1: end, x2: end, y1: y(now.low), y2: y(now.high), class: "band"}),
    drawn("polyline", {points: points.map(([n, share]) => x(n) + "," + y(share)).join(" "),
      class: "line"}),
    drawn("circle", {cx: end, cy: y(last[1]), r: 3.5, class: "now"}));
  return svg;
}

function showAgreement(found) {
  $("agreement").hidden = !found;
  if (!found) return;
  const table = made("table");
  table.append(made("caption", "Tags, the least agreed on first"));
  const head = made("tr");
  for (const name of ["tag", "here", "other file", "both", "κ"]) {
    const cell = made("th", name);
    cell.scope = "col";
    head.append(cell);
  }
  const top = made("thead"), body = made("tbody");
  top.append(head);
  for (const one of found.tags) {
    const row = made("tr"), name = made("th", visible(one.tag));
    name.scope = "row";
    row.append(name, made("td", counted(one.ours)), made("td", counted(one.theirs)),
      made("td", counted(one.both)), made("td", one.kappa === null ? "–" : one.kappa.toFixed(3)));
    body.append(row);
  }
  table.append(top, body);
  $("agreement").replaceChildren(made("h2", "Agreement"), made("p", `${counted(found.agreed)} of `
    + `${counted(found.tokens)} tokens have the same ${found.column} in both files: `
    + `${percent(found.tokens ? found.agreed / found.tokens : 0)}, Cohen's κ `
    + `${found.kappa === null ? "–" : found.kappa.toFixed(3)}. Sentences of the other file that are `
    + `not here: ${counted(found.left_out)}.`), table);
}

// What is done, where it is, and what can be done next.
function showFinished() {
  const p = state.progress;
  $("where").textContent = `${counted(p.sentences)} sentences, ${counted(p.tokens)} tokens. `
    + (state.path ? `They are in ${visible(state.path)}.` : "They are in memory: no file was named.");
  $("saved").hidden = !state.model;
  $("saved-as").textContent = state.model ? visible(state.model) : "";
  $("finished-against").hidden = !state.against;
  $("finished").querySelector("h2").focus();
}

function showOrigin() {
  const parts = ["Sentence " + visible(task.name)];
  if (task.origin === "check") parts.push("drawn at random, to measure the accuracy");
  if (task.origin === "again") parts.push("taken back");
  if (state.reviewed) parts.push(counted(state.reviewed) + " to look at again");
  else parts.push(counted(state.progress.waiting) + " waiting");
  $("origin").textContent = parts.join(" · ");
}

function confidence(i) {
  const label = labels[state.columns[0]][i];
  const found = task.alternatives[i].find(([name]) => name === label);
  return found ? found[1] : null;
}

// By default once nine of ten proposals hold.
function isGoingOn() {
  const wrong = state.progress.corrections_per_100;
  return goesOn === null ? wrong !== null && wrong <= 10 : goesOn;
}

function isUncertain(i) {
  const sure = confidence(i);
  return !done[i] && (labels[state.columns[0]][i] === null || Boolean(task.doubts[i])
    || sure === null || sure < SURE);
}

// The next uncertain token, else one before that was passed over; there, if all are certain.
function nextUncertain() {
  const order = [...task.words.keys()];
  const found = [...order.slice(at + 1), ...order.slice(0, at)].find(isUncertain);
  if (found === undefined) say("No uncertain token is left; Enter accepts the sentence.");
  return found === undefined ? at : found;
}

// The token of a word: as it stands in the text, its first word, and how many it has.
function tokenOf(i) {
  let first = 0;
  for (const [form, count] of task.tokens) {
    if (i < first + count) return {form, first, count};
    first += count;
  }
  return {form: task.words[i], first: i, count: 1};
}

function showSentence() {
  const first = LETTER.exec(task.words.join(""));
  $("sentence").dir = first && RIGHT_TO_LEFT.test(first[0]) ? "rtl" : "ltr";
  for (const id of ["before", "after"]) $(id).dir = $("sentence").dir;
  $("sentence").replaceChildren(...task.words.map(token));
  choose(at, true);
}

function token(word, i) {
  const label = labels[state.columns[0]][i];
  const sure = confidence(i);
  const doubt = task.doubts[i] || label === null ? 3
    : sure === null || sure >= SURE ? 0 : sure >= 0.8 ? 1 : sure >= 0.5 ? 2 : 3;
  const button = made("button", undefined, "token d" + doubt + (task.known[i] ? "" : " new")
    + (done[i] ? " done" : ""));
  button.type = "button";
  button.append(made("span", visible(word), "form"));
  const tag = made("span", label === null ? "?" : visible(label), label === null ? "tag none" : "tag");
  tag.dir = "ltr";
  if (done[i]) tag.append(made("small", "✓"));
  else if (sure !== null) tag.append(made("small", (100 * sure).toFixed(0)));
  button.append(tag);
  for (const column of state.columns.slice(1)) {
    const more = labels[column][i];
    // Of features the values: their names are in the panel.
    const short = column === "feats" ? (more || "_").replace(/(^|\|)[^=|]*=/g, " ").trim() : more;
    if (more !== null && more !== "_") button.append(made("span", visible(short), "extra"));
  }
  if (i in extras.typos) button.append(made("span", "→ " + visible(extras.typos[i]), "extra"));
  const nodes = extras.empty.filter(([after]) => after === i + 1).map(([, form]) => form);
  if (nodes.length) button.append(made("span", "+ " + visible(nodes.join(" ")), "extra"));
  const whole = tokenOf(i);
  if (whole.count > 1) button.append(made("span", "of " + visible(whole.form), "extra"));
  if (!task.known[i]) button.title = "not annotated before";
  button.addEventListener("click", () => choose(i, true));
  const item = made("li", undefined, task.glued[i] ? "glued" : "");
  item.append(button);
  return item;
}

function buttons() {
  return [...$("sentence").querySelectorAll("button")];
}

function choose(i, focused) {
  at = Math.min(Math.max(i, 0), task.words.length - 1);
  buttons().forEach((button, j) => {
    button.tabIndex = j === at ? 0 : -1;
    if (j === at) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  });
  showPanel();
  if (focused) {
    const chosen = buttons()[at];
    chosen.focus({preventScroll: true});
    // Not behind the panel, which stays in view.
    const below = chosen.getBoundingClientRect().bottom - $("panel").getBoundingClientRect().top;
    if (below > -8 && $("panel").getBoundingClientRect().bottom > innerHeight - 90) {
      scrollBy({top: below + 16});
    }
    if (chosen.getBoundingClientRect().top < 0) chosen.scrollIntoView({block: "start"});
  }
}

// The tags in the order of the list: what the model proposes, then the others of the set.
function ranked() {
  const own = task.alternatives[at].map(([label]) => label);
  if (task.doubts[at] && !own.includes(task.doubts[at].label)) own.unshift(task.doubts[at].label);
  const now = labels[state.columns[0]][at];
  if (now !== null && !own.includes(now)) own.push(now);
  return [...own, ...state.tags.map((one) => one.tag).filter((tag) => !own.includes(tag))];
}

function tagButton(label, key, more) {
  const button = made("button", visible(label));
  button.type = "button";
  button.setAttribute("aria-pressed", String(labels[state.columns[0]][at] === label));
  if (more) button.append(made("small", more));
  if (key) button.append(made("kbd", key, "keyed"));
  const about = state.tags.find((one) => one.tag === label);
  if (about && about.about) button.title = about.about;
  button.addEventListener("click", () => setLabel(state.columns[0], label, true));
  const item = made("li");
  item.append(button);
  return item;
}

function showPanel() {
  const head = made("p", undefined, "head");
  head.append(made("b", visible(task.words[at])),
    made("span", (at + 1) + " of " + task.words.length + (task.known[at] ? "" : " · new word"),
      "soft"));
  const parts = [head];
  if (task.doubts[at]) parts.push(made("p", task.doubts[at].reason, "doubt"));
  const order = ranked();
  const sure = new Map(task.alternatives[at]);
  const likely = made("ol", undefined, "likely");
  likely.append(...order.slice(0, LIKELY).filter((label) => sure.has(label) || order.length <= LIKELY
    || label === labels[state.columns[0]][at]).slice(0, LIKELY).map((label, i) => tagButton(label,
    i + 1, sure.has(label) ? (100 * sure.get(label)).toFixed(sure.get(label) < 0.1 ? 1 : 0) + " %"
      : "")));
  if (likely.children.length) parts.push(likely);
  if (state.tags.length) {
    const all = made("ol", undefined, "all");
    all.append(...state.tags.map((one) => tagButton(one.tag, one.key, "")));
    parts.push(made("h2", "All tags"), all);
  } else {
    parts.push(field(state.columns[0], "type"));
  }
  if (state.columns.length > 1) {
    const fields = made("div", undefined, "fields");
    fields.append(...state.columns.slice(1).map((column) => field(column)));
    parts.push(fields);
    if (state.columns.includes("feats")) parts.push(features());
  }
  parts.push(cuts());
  $("panel").replaceChildren(...parts);
}

function field(column, kind) {
  const whole = made("div", undefined, kind || "");
  const name = made("label", column === "lemma" ? "Lemma" : column === "feats" ? "Features"
    : column.toUpperCase());
  const input = made("input");
  input.id = "field-" + column;
  name.htmlFor = input.id;
  input.value = labels[column][at] === null ? "" : labels[column][at];
  input.autocomplete = "off";
  input.spellcheck = false;
  input.dir = "auto";
  input.addEventListener("change", () => setLabel(column, input.value.trim() || null, false));
  whole.append(name, input);
  return whole;
}

// Features as parts: those that words with this tag have, and what is typed of others.
function featuresMeant(text) {
  const typed = text.trim().toLowerCase();
  const tag = labels.upos ? labels.upos[at] : "";
  const usual = state.features[tag] || [];
  const all = [...usual, ...(state.features[""] || []).filter((one) => !usual.includes(one))];
  if (!typed) return usual.slice(0, MOST_PARTS);
  const found = all.filter((one) => one.toLowerCase().split("=").some((part) => part.startsWith(typed))
    || one.toLowerCase().startsWith(typed));
  return (found.length || !/^\S+=\S+$/.test(text.trim()) ? found : [text.trim()]).slice(0, MOST_PARTS);
}

// With a part, or without it if it is there; of each name there is one.
function toggledFeature(part) {
  const now = (labels.feats[at] || "_").split("|").filter((one) => one !== "_");
  const name = part.split("=")[0];
  const rest = now.filter((one) => one.split("=")[0] !== name);
  if (!now.includes(part)) rest.push(part);
  const key = (one) => one.split("=")[0].toLowerCase();
  rest.sort((a, b) => key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
  return rest.join("|") || "_";
}

function features() {
  const whole = made("div", undefined, "type"), name = made("label", "Features: type one; Enter sets it, or takes it off");
  const input = made("input"), list = made("ol", undefined, "all parts");
  input.id = name.htmlFor = "part";
  input.autocomplete = "off";
  input.spellcheck = false;
  const draw = () => {
    const now = (labels.feats[at] || "_").split("|");
    list.replaceChildren(...featuresMeant(input.value).map((part) => {
      const button = made("button", visible(part)), item = made("li");
      button.type = "button";
      button.setAttribute("aria-pressed", String(now.includes(part)));
      button.addEventListener("click", () => takePart(part));
      item.append(button);
      return item;
    }));
  };
  input.addEventListener("input", draw);
  draw();
  whole.append(name, input, list);
  return whole;
}

function takePart(part) {
  setLabel("feats", toggledFeature(part), false);
  $("part").focus();
}

// A line that Enter takes.
function askLine(about, value, take) {
  const whole = made("div", undefined, "type"), name = made("label", about + "; Enter takes it");
  const input = made("input");
  input.id = name.htmlFor = "asked";
  input.value = value;
  input.autocomplete = "off";
  input.spellcheck = false;
  input.dir = "auto";
  input.taken = take;
  whole.append(name, input);
  $("panel").querySelector(".head").after(whole);
  input.focus();
  input.select();
}

function setExtras(change) {
  edits.push({at, extras: structuredClone(extras)});
  change(extras);
  redraw(at);
  choose(at, true);
}

function askWords() {
  if (!task.can_cut) return;
  const whole = tokenOf(at);
  askLine("The words of “" + visible(whole.form) + "”, with spaces between",
    task.words.slice(whole.first, whole.first + whole.count).join(" "),
    (text) => act("split_words", {token: at, words: text.trim() ? text.trim().split(/\s+/)
      : [whole.form]}));
}

function askTypo() {
  askLine("Correct form of a misspelled word", extras.typos[at] || task.words[at], (text) =>
    setExtras((own) => {
      delete own.typos[at];
      if (text.trim() && text.trim() !== task.words[at]) own.typos[at] = text.trim();
    }));
}

function askEmpty() {
  const now = extras.empty.filter(([after]) => after === at + 1)
    .map(([, form, tag]) => form + (tag === "_" ? "" : " " + tag)).join(", ");
  askLine("Empty token behind this one: its form, and its tag; several with commas", now, (text) =>
    setExtras((own) => {
      const nodes = text.split(",").map((one) => one.trim().split(/\s+/)).filter(([form]) => form);
      own.empty = own.empty.filter(([after]) => after !== at + 1)
        .concat(nodes.map(([form, tag]) => [at + 1, form, (tag || "_").toUpperCase()]));
    }));
}

// The tag of the set that is typed: the one so called, else the first that begins so, or that is
// described so.
function meant(text) {
  const typed = text.trim().toLowerCase();
  const begins = (name) => name.toLowerCase().startsWith(typed);
  return typed ? state.tags.find((one) => one.tag.toLowerCase() === typed)
    || state.tags.find((one) => begins(one.tag)) || state.tags.find((one) => begins(one.about))
    : undefined;
}

function showTyping() {
  const known = $("field-" + state.columns[0]) || $("typed");
  if (known) {
    known.focus();
    return;
  }
  const whole = made("div", undefined, "type"), name = made("label", "Type a tag; Enter takes it");
  const input = made("input");
  input.id = name.htmlFor = "typed";
  input.autocomplete = "off";
  input.spellcheck = false;
  input.addEventListener("input", () => {
    const one = meant(input.value);
    [...$("panel").querySelectorAll(".all button")].forEach((button, i) => {
      button.classList.toggle("meant", one === state.tags[i]);
      const typed = input.value.trim().toLowerCase();
      button.parentElement.hidden = Boolean(typed) && ![state.tags[i].tag, state.tags[i].about]
        .some((name) => name.toLowerCase().startsWith(typed));
    });
  });
  whole.append(name, input);
  $("panel").querySelector("h2").before(whole);
  input.focus();
}

function takeTyped(text) {
  const one = meant(text);
  if (one) setLabel(state.columns[0], one.tag, true);
  else say("“" + visible(text) + "” begins no tag of the set.", true);
}

function cuts() {
  const whole = made("p", undefined, "cuts");
  const offer = (text, key, run) => {
    const button = made("button", text + " ");
    button.type = "button";
    button.append(made("kbd", key, "keyed"));
    button.addEventListener("click", run);
    whole.append(button);
  };
  if (task.can_cut) {
    const isOne = tokenOf(at).count === 1;
    offer("Words of the token", "=", askWords);
    if (isOne && [...task.words[at]].length > 1) offer("Split token", "+", showLetters);
    if (isOne && at + 1 < task.words.length) offer("Join with next", "-", joinTokens);
    if (at) offer("Sentence begins here", "[", () => act("split_sentence", {token: at}));
    offer("Join next sentence", "]", () => act("join_sentence", {}));
  }
  offer("Misspelled", "T", askTypo);
  offer("Empty token", "E", askEmpty);
  return whole;
}

function joinTokens() {
  act("join_tokens", {token: at});
}

// One button between each two letters, so that a click or an arrow key says where.
function showLetters() {
  const letters = [...task.words[at]];
  if (!task.can_cut || letters.length < 2) return;
  const whole = made("p", undefined, "letters choices");
  whole.setAttribute("aria-label", "Where to split");
  letters.forEach((letter, i) => {
    if (i) {
      const button = made("button", "|");
      button.type = "button";
      const before = letters.slice(0, i).join("");
      button.setAttribute("aria-label", visible(before) + " and " + visible(letters.slice(i).join("")));
      // Places are counted in code points.
      button.addEventListener("click", () => act("split_token", {token: at, at: i}));
      whole.append(button);
    }
    whole.append(made("span", visible(letter)));
  });
  $("panel").append(whole);
  whole.querySelector("button").focus();
}

function setLabel(column, label, isTag) {
  edits.push({at, column, label: labels[column][at], done: done[at]});
  labels[column][at] = label;
  done[at] = true;
  redraw(at);
  choose(isTag && isGoingOn() ? nextUncertain() : at, isTag);
}

function redraw(i) {
  $("sentence").children[i].replaceWith(token(task.words[i], i));
}

function confirmToken() {
  if (!done[at]) {
    edits.push({at, column: state.columns[0], label: labels[state.columns[0]][at], done: false});
    done[at] = labels[state.columns[0]][at] !== null;
    redraw(at);
  }
  choose(isGoingOn() ? nextUncertain() : at + 1, true);
}

function undo() {
  const last = edits.pop();
  if (!last) {
    act("undo", {});
    return;
  }
  const word = "“" + visible(task.words[last.at]) + "”";
  if (last.extras) {
    extras = last.extras;
    say("Taken back: what was said of " + word + ".");
  } else {
    const now = labels[last.column][last.at];
    say("Taken back: " + word + (now === last.label ? " is right"
      : ` ${visible(now || "?")} → ${visible(last.label || "?")}`) + ".");
    labels[last.column][last.at] = last.label;
    done[last.at] = last.done;
  }
  redraw(last.at);
  choose(last.at, true);
}

function accept() {
  if (!task || busy) return;
  const missing = labels[state.columns[0]].indexOf(null);
  if (missing >= 0) {
    choose(missing, true);
    say("“" + visible(task.words[missing]) + "” has no tag yet.", true);
    return;
  }
  for (const column of state.columns.slice(1)) {
    labels[column] = labels[column].map((label) => label === null ? "_" : label);
  }
  act("accept", {labels, note: $("note").value, extras});
}

function step(by) {
  if (isGoingOn()) setGoingOn(false);
  const order = ranked();
  const now = order.indexOf(labels[state.columns[0]][at]);
  const next = now < 0 ? 0 : now + by;
  if (next >= 0 && next < order.length) setLabel(state.columns[0], order[next], true);
}

function setGoingOn(is) {
  goesOn = is;
  $("goes-on").checked = is;
  say(is ? "The cursor goes on after a label." : "The cursor stays after a label.");
}

function showNote() {
  $("noted").hidden = false;
  $("note").focus();
}

function more(action) {
  $("help").close();
  act(action, {});
}

const KEYS = {
  " ": confirmToken, "Enter": accept, "u": undo, "s": () => act("skip", {}), "N": showNote,
  "?": () => $("help").showModal(), "D": () => more("errors"), "M": () => more("save"),
  "W": () => more("stop_review"),
  "A": () => state.against && more("against"),
  "ArrowDown": () => step(1), "ArrowUp": () => step(-1),
  "Home": () => choose(0, true), "End": () => choose(task.words.length - 1, true),
  "F": () => focusField($("part") ? "part" : "field-feats"), "L": () => focusField("field-lemma"), "/": showTyping, "S": showTyping,
  "=": askWords, "V": askWords, "T": askTypo, "E": askEmpty, "O": () => setGoingOn(!isGoingOn()),
  "C": showLetters, "J": () => task.can_cut && joinTokens(),
  "B": () => task.can_cut && act("split_sentence", {token: at}),
  "G": () => task.can_cut && act("join_sentence", {}),
  "+": showLetters, "-": () => task.can_cut && joinTokens(),
  "[": () => task.can_cut && act("split_sentence", {token: at}),
  "]": () => task.can_cut && act("join_sentence", {}),
};
const WITHOUT_TASK = new Set(["u", "?", "D", "M", "W", "A"]);

function focusField(id) {
  const found = $(id);
  if (found) found.focus();
}

// Where letters are not those of English, or digits take Shift, what counts is where the key is.
const PLACES = {Minus: "-", Equal: "=", BracketLeft: "[", BracketRight: "]", Slash: "/", Period: "."};

function hasMeaning(key) {
  return key.length > 1 || Boolean(KEYS[key]) || /^[1-9]$/.test(key)
    || Boolean(state && state.tags.some((tag) => tag.key === key));
}

function keyOf(event) {
  if (hasMeaning(event.key)) return event.key;
  const [, letter, digit] = /^(?:Key([A-Z])|(?:Digit|Numpad)([0-9]))$/.exec(event.code) || [];
  if (letter) return event.shiftKey ? letter : letter.toLowerCase();
  if (event.shiftKey && event.code === "Slash") return "?";
  return digit || PLACES[event.code] || event.key;
}

document.addEventListener("keydown", (event) => {
  if (!state || $("help").open || event.ctrlKey || event.altKey || event.metaKey
    || event.isComposing) return;
  const inField = event.target instanceof HTMLInputElement;
  if (inField) {
    if (event.key === "Escape" || event.key === "Enter") {
      event.preventDefault();
      if (event.key === "Enter" && event.target.id === "typed" && event.target.value.trim()) {
        takeTyped(event.target.value);
        return;
      }
      if (event.key === "Enter" && event.target.id === "asked") {
        event.target.taken(event.target.value);
        return;
      }
      if (event.key === "Enter" && event.target.id === "part" && event.target.value.trim()) {
        const [part] = featuresMeant(event.target.value);
        if (part) takePart(part);
        else say("“" + visible(event.target.value) + "” begins no feature; write Name=Value.", true);
        return;
      }
      event.target.blur();
      if (task) choose(at, true);
    }
    return;
  }
  // A button that is not a token is pressed by Enter and Space as everywhere.
  const own = event.target instanceof HTMLButtonElement && !event.target.classList.contains("token");
  if (own && (event.key === "Enter" || event.key === " ")) return;
  if (own && event.target.closest(".letters") && event.key.startsWith("Arrow")) {
    const all = [...event.target.closest(".letters").querySelectorAll("button")];
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    (all[all.indexOf(event.target) + by] || event.target).focus();
    event.preventDefault();
    return;
  }
  if (event.key === "Escape" && task) choose(at, true);
  const key = keyOf(event);
  if (!task && !WITHOUT_TASK.has(key)) return;
  const sideways = {ArrowLeft: -1, ArrowRight: 1}[key];
  if (sideways) {
    choose(at + ($("sentence").dir === "rtl" ? -sideways : sideways), true);
  } else if (KEYS[key]) {
    KEYS[key]();
  } else if (/^[1-9]$/.test(key)) {
    const button = $("panel").querySelectorAll(".likely button")[key - 1];
    if (button) button.click();
  } else {
    const one = state.tags.find((tag) => tag.key === key);
    if (!one) return;
    setLabel(state.columns[0], one.tag, true);
  }
  event.preventDefault();
});

$("accept").addEventListener("click", accept);
$("skip").addEventListener("click", () => act("skip", {}));
$("undo").addEventListener("click", undo);
$("goes-on").addEventListener("change", () => {
  setGoingOn($("goes-on").checked);
  if (task) choose(at, true);
});
$("show-note").addEventListener("click", showNote);
$("more").addEventListener("click", () => $("help").showModal());
$("close").addEventListener("click", () => $("help").close());
$("errors").addEventListener("click", () => more("errors"));
$("against").addEventListener("click", () => more("against"));
$("stop").addEventListener("click", () => more("stop_review"));
$("save").addEventListener("click", () => more("save"));
$("finished-errors").addEventListener("click", () => act("errors", {}));
$("finished-against").addEventListener("click", () => act("against", {}));
$("finished-save").addEventListener("click", () => act("save", {}));
$("help").addEventListener("close", () => task && choose(at, true));
addEventListener("beforeunload", (event) => {
  if (edits.length) event.preventDefault();
});

ask("/look", {}).then((found) => {
  show(found);
  say(found.messages.join(" "));
  found.messages.forEach((one) => told.add(one));
}, (error) => say(error.message, true));
