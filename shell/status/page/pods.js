// The table of pods. Rows are made once and changed in place, so that the page keeps its place and
// its focus. Everything from the server is set as text: names and messages may hold anything.

import { absolute, now, span } from "./time.js";

const columns = ["pod", "verdict", "reason", "cause", "attempts", "retry", "version", "runtime-id", "url", "since"];

export class PodTable {
  #body = document.getElementById("pods");
  #rows = new Map(); // by key
  #order = []; // by namespace and name

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
    this.#add(added);
    if (!reset) for (const row of added) row.flash();
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

  #add(added) {
    if (added.length === 0) return;
    for (const row of added) this.#rows.set(row.key, row);
    const isFirst = this.#order.length === 0;
    this.#order = [...this.#order, ...added].sort(compare);
    if (isFirst) {
      this.#body.append(...this.#order.map((row) => row.node));
      return;
    }
    const news = new Set(added);
    let next = null;
    for (const row of this.#order.toReversed()) {
      if (news.has(row)) this.#body.insertBefore(row.node, next);
      next = row.node;
    }
  }

  #remove(key) {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    this.#rows.delete(key);
    this.#order.splice(this.#order.indexOf(row), 1);
    row.node.remove();
  }
}

const keyOf = (pod) => pod.namespace + "\0" + pod.name;

function compare(a, b) {
  const [p, q] = [a.pod, b.pod];
  if (p.namespace !== q.namespace) return p.namespace < q.namespace ? -1 : 1;
  return p.name < q.name ? -1 : p.name > q.name ? 1 : 0;
}

class Row {
  node = document.createElement("tr");
  #cells = {};

  constructor(pod) {
    this.key = keyOf(pod);
    for (const column of columns) {
      const cell = document.createElement("td");
      cell.className = column;
      this.node.append(cell);
      this.#cells[column] = cell;
    }
    this.#badge = this.#in("verdict", "span", "badge");
    this.#cause = this.#in("cause", "span");
    this.#detail = this.#in("cause", "small");
    this.#runtimeID = this.#in("runtime-id", "button", "id");
    this.#runtimeID.type = "button";
    this.#runtimeID.addEventListener("click", () => {
      this.#expanded = !this.#expanded;
      this.#showRuntimeID();
    });
    this.#since = this.#in("since", "time");
    this.node.addEventListener("animationend", () => this.node.classList.remove("changed"));
    this.show(pod);
  }
  #badge; #cause; #detail; #runtimeID; #since;
  #expanded = false;

  // show takes the pod's new facts; it is true if the verdict or the incarnation is another one.
  show(pod) {
    const was = this.pod;
    this.pod = pod;
    this.text = [`${pod.namespace}/${pod.name}`, pod.uid, pod.verdict, pod.reason, pod.cause, pod.detail,
      pod.version, pod.runtime_id, pod.url].join("\n").toLowerCase();
    set(this.#cells.pod, `${pod.namespace}/${pod.name}`);
    this.#cells.pod.title = `UID ${pod.uid}`;
    set(this.#badge, pod.verdict);
    this.#badge.dataset.verdict = pod.verdict;
    set(this.#cells.reason, words(pod.reason));
    set(this.#cause, words(pod.cause));
    set(this.#detail, pod.detail);
    set(this.#cells.attempts, pod.attempts > 0 ? String(pod.attempts) : "");
    set(this.#cells.version, pod.version);
    set(this.#cells.url, pod.url);
    this.#showRuntimeID();
    this.#since.dateTime = pod.since;
    this.#since.title = absolute(pod.since);
    this.#cells.retry.title = absolute(pod.next_retry);
    this.#retryAt = Date.parse(pod.next_retry);
    this.#sinceAt = Date.parse(pod.since);
    this.tick(now());
    return was !== undefined && (was.verdict !== pod.verdict || was.uid !== pod.uid || was.runtime_id !== pod.runtime_id);
  }
  #retryAt; #sinceAt;

  tick(time) {
    set(this.#since, span(time - this.#sinceAt));
    set(this.#cells.retry, this.#nextProbe(time));
  }

  flash() {
    this.node.classList.add("changed");
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
    this.#runtimeID.hidden = id === "";
    this.#runtimeID.title = id;
    this.#runtimeID.setAttribute("aria-expanded", this.#expanded);
    set(this.#runtimeID, this.#expanded || id.length <= 12 ? id : id.slice(0, 12) + "…");
  }

  #in(column, name, className = "") {
    const node = document.createElement(name);
    node.className = className;
    this.#cells[column].append(node);
    return node;
  }
}

const words = (name) => name.replaceAll("_", " ");

// set changes a text only if it is another one, which costs the browser nothing.
function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
