// The table of pods, in the order of a column. Rows are made once and changed in place, so that the
// page keeps its place and its focus. Everything from the server is set as text: names and messages may hold anything.

import { byColumn } from "./order.js";
import { absolute, now, span } from "./time.js";

const columns = ["pod", "verdict", "reason", "cause", "attempts", "retry", "version", "runtime-id", "url", "since"];

export class PodTable {
  #body = document.getElementById("pods");
  #heads = document.querySelectorAll("thead th");
  #rows = new Map(); // by key
  #order = [];
  #compare = byColumn("pod", false);

  constructor() {
    for (const head of this.#heads) head.addEventListener("click", () => this.#sortBy(head));
    this.#body.addEventListener("click", (event) => {
      const button = event.target.closest("button.id");
      if (button !== null) rowOf.get(button.closest("tr")).toggle();
    });
    this.#body.addEventListener("animationend", (event) => event.target.closest("tr").classList.remove("changed"));
  }

  // apply takes the changed pods in, and takes away those that are gone. With reset, the pods given
  // are all there are.
  apply(pods, gone, reset) {
    if (reset) {
      const kept = new Set(pods.map(keyOf));
      gone = this.#order.filter((row) => !kept.has(row.key)).map((row) => row.pod);
    }
    for (const pod of gone) this.#remove(keyOf(pod));
    const added = [];
    for (const pod of pods) {
      const row = this.#rows.get(keyOf(pod));
      if (row === undefined) added.push(new Row(pod));
      else if (row.show(pod)) row.flash();
    }
    for (const row of added) this.#rows.set(row.key, row);
    this.#order.push(...added);
    if (pods.length > 0) this.#arrange();
    if (!reset) for (const row of added) row.flash();
  }

  // sortBy sorts by a column, or turns its order around.
  #sortBy(head) {
    const descending = head.ariaSort === "ascending";
    for (const other of this.#heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    this.#compare = byColumn(head.firstElementChild.dataset.column, descending);
    this.#arrange();
  }

  // arrange puts the rows in order. Those that follow the right one stay where they are.
  #arrange() {
    this.#order.sort((a, b) => this.#compare(a.pod, b.pod));
    let next = null;
    for (const { node } of this.#order.toReversed()) {
      if (node.parentNode === null || node.nextSibling !== next) this.#body.insertBefore(node, next);
      next = node;
    }
  }

  // filter shows the rows that match and gives how many do.
  filter(matches) {
    let shown = 0;
    for (const row of this.#order) {
      const hidden = !matches(row.pod.verdict, row.text);
      if (row.node.hidden !== hidden) row.node.hidden = hidden;
      if (!hidden) shown++;
    }
    return shown;
  }

  tick() {
    const time = now();
    for (const row of this.#order) if (!row.node.hidden) row.tick(time);
  }

  // counts tells how many pods have each verdict.
  counts() {
    const counts = new Map();
    for (const { pod } of this.#order) counts.set(pod.verdict, (counts.get(pod.verdict) ?? 0) + 1);
    return counts;
  }

  get size() {
    return this.#order.length;
  }

  #remove(key) {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    this.#rows.delete(key);
    this.#order.splice(this.#order.indexOf(row), 1);
    row.node.remove();
  }
}

const rowOf = new WeakMap(); // from nodes

const keyOf = (pod) => pod.namespace + "\0" + pod.name;

// blank is what every row is a copy of.
const blank = document.createElement("tr");
for (const column of columns) {
  const cell = document.createElement("td");
  cell.className = column;
  blank.append(cell);
}
inside("verdict", "span", "badge");
inside("cause", "span", "name");
inside("cause", "small", "detail");
inside("runtime-id", "button", "id").type = "button";
inside("since", "time", "age");

function inside(column, name, className) {
  const node = document.createElement(name);
  node.className = className;
  blank.children[columns.indexOf(column)].append(node);
  return node;
}

class Row {
  node = blank.cloneNode(true);
  #cells = Object.fromEntries(columns.map((column, i) => [column, new Text(this.node.children[i])]));
  #badge = this.#part("verdict", 0);
  #cause = this.#part("cause", 0);
  #detail = this.#part("cause", 1);
  #runtimeID = this.#part("runtime-id", 0);
  #since = this.#part("since", 0);
  #expanded = false;
  #retryAt; #retryTitle; // a time and what it is for people
  #sinceAt; #sinceTitle;

  constructor(pod) {
    this.key = keyOf(pod);
    rowOf.set(this.node, this);
    this.show(pod);
  }

  // show takes the pod's new facts; it is true if the verdict or the incarnation is another one.
  show(pod) {
    const was = this.pod;
    this.pod = pod;
    this.text = [`${pod.namespace}/${pod.name}`, pod.uid, pod.verdict, pod.reason, pod.cause, pod.detail,
      pod.version, pod.runtime_id, pod.url].join("\n").toLowerCase();
    this.#cells.pod.set(`${pod.namespace}/${pod.name}`, `${pod.namespace}/${pod.name}, UID ${pod.uid}`);
    this.#badge.set(pod.verdict);
    this.#badge.node.dataset.verdict = pod.verdict;
    this.#cells.reason.set(words(pod.reason));
    this.#cause.set(words(pod.cause));
    this.#detail.set(pod.detail, pod.detail);
    this.#cells.attempts.set(pod.attempts > 0 ? String(pod.attempts) : "");
    this.#cells.version.set(pod.version, pod.version);
    this.#cells.url.set(pod.url, pod.url);
    this.#showRuntimeID();
    [this.#retryAt, this.#retryTitle] = [Date.parse(pod.next_retry), absolute(pod.next_retry)];
    [this.#sinceAt, this.#sinceTitle] = [Date.parse(pod.since), absolute(pod.since)];
    this.#since.node.dateTime = pod.since;
    this.tick(now());
    return was !== undefined && (was.verdict !== pod.verdict || was.uid !== pod.uid || was.runtime_id !== pod.runtime_id);
  }

  tick(time) {
    this.#since.set(span(time - this.#sinceAt), this.#sinceTitle);
    this.#cells.retry.set(this.#nextProbe(time), this.#retryTitle);
  }

  flash() {
    this.node.classList.add("changed");
  }

  // toggle shows the runtime ID in full, or shortened again.
  toggle() {
    this.#expanded = !this.#expanded;
    this.#showRuntimeID();
  }

  #nextProbe(time) {
    switch (this.pod.probe) {
      case "in_flight": return "probing";
      case "queued": return "queued";
    }
    if (Number.isNaN(this.#retryAt)) return "";
    return this.#retryAt > time ? `in ${span(this.#retryAt - time)}` : "due";
  }

  #showRuntimeID() {
    const id = this.pod.runtime_id;
    this.#runtimeID.node.hidden = id === "";
    this.#runtimeID.node.setAttribute("aria-expanded", this.#expanded);
    this.#runtimeID.set(this.#expanded || id.length <= 12 ? id : id.slice(0, 12) + "…", id);
  }

  #part(column, i) {
    return new Text(this.#cells[column].node.children[i]);
  }
}

// Text is a node that holds only text. It is changed only if the text is another one, which costs
// the browser nothing.
class Text {
  #text = "";
  #title = "";

  constructor(node) {
    this.node = node;
  }

  set(text, title = "") {
    if (this.#text !== text) this.node.textContent = this.#text = text;
    if (this.#title !== title) this.node.title = this.#title = title;
  }
}

const words = (name) => name.replaceAll("_", " ");
