"use strict";
// The part that all pages share. Everything that comes from a program is shown as text: nodes are
// created by `element`, never from markup.
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
/// Lines of files, by file name.
let sources = data.sources || {};

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/// Creates a node of a drawing.
function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const kinds = (kind) => kind.replaceAll("_", " ");
const shortPlace = (place) => place ? place.split("/").pop().split(":").slice(0, 2).join(":") : "";

/// Returns the lines of source around a place, if the page contains them.
function source(place) {
  const parts = /^(.*?):(\d+)(?::\d+)?$/.exec(place || "");
  const file = parts && Object.hasOwn(sources, parts[1]) ? sources[parts[1]] : null;
  if (!file) return null;
  const line = Number(parts[2]);
  const shown = element("div", { class: "source mono", role: "group", "aria-label": "Source of " + place });
  for (const [number, content] of file) {
    if (Math.abs(number - line) > 4) continue;
    const attributes = { class: number === line ? "here" : null };
    shown.append(element("div", attributes, element("span", { class: "line" }, String(number)), content || " "));
  }
  return shown.childElementCount ? shown : null;
}

/// Returns the rows that are shown at first. In a long execution these are the first and the last
/// rows, and those around the failure and around `decides`: the events whose order matters, and
/// stale reads with the writes that they do not see. The others are folded.
function relevant(execution, decides) {
  const rows = execution.rows;
  if (rows.length <= 120) return rows.map((_, number) => number);
  const kept = new Set();
  const keep = (from, to) => { for (let row = Math.max(from, 0); row <= Math.min(to, rows.length - 1); row++) kept.add(row); };
  keep(0, 5);
  keep(rows.length - 10, rows.length - 1);
  [...decides].slice(0, 60).forEach((row) => keep(row - 3, row + 3));
  rows.forEach((row, number) => { if (row.failed) keep(number - 10, number + 3); });
  return [...kept].sort((one, other) => one - other);
}

/// The diagram of an execution, to step through.
class Stepper {
  /// `tellsStates` is false for safe schedules, which stand for many executions. `tellsEnds` is
  /// false while the execution is not over.
  constructor(execution, { tellsStates = true, tellsEnds = true } = {}) {
    this.execution = execution;
    this.tellsStates = tellsStates;
    this.tellsEnds = tellsEnds;
    this.rows = this.execution.rows;
    this.current = Math.max(this.rows.findIndex((row) => row.failed), 0);
    if (!this.rows.some((row) => row.failed)) this.current = Math.max(this.rows.length - 1, 0);
    const pairs = this.execution.races.slice(0, 3).concat(this.execution.conflict ? [this.execution.conflict] : []);
    this.pairs = pairs;
    this.unseen = (this.execution.unseen || []).slice(0, 3);
    this.decides = new Set([...pairs.flatMap((pair) => [pair.first, pair.second]), ...this.unseen.flatMap((pair) => [pair.write, pair.read])]);
    this.shown = new Map();
    this.body = element("tbody");
    this.side = element("aside", { class: "side", "aria-label": "State after the event" });
    this.slider = element("input", { type: "range", min: 1, max: Math.max(this.rows.length, 1), "aria-label": "Event",
      oninput: () => this.go(Number(this.slider.value) - 1) });
    this.states = element("div", { "aria-live": "polite" });
    const button = (label, move) => element("button", { type: "button", onclick: move }, label);
    this.side.append(
      element("div", { class: "controls" },
        button("◀ Back", () => this.go(this.current - 1)), button("Next ▶", () => this.go(this.current + 1)), this.slider),
      element("p", { class: "faint" }, "Keys: ↑ and ↓ step, Home and End go to the first and the last event"
        + (this.rows.some((row) => row.failed) ? ", F goes to the failure." : ".")),
      this.states);
    this.fill();
    this.arrows = svg("svg", { class: "arrows", "aria-hidden": "true" });
    new ResizeObserver(() => this.drawSoon()).observe(this.body);
  }

  node(title) {
    const threads = this.execution.threads;
    const head = element("tr", {}, element("th", { class: "number", scope: "col" }, "#"),
      ...threads.map((name) => element("th", { scope: "col" }, name)));
    const table = element("table", { class: "events", tabindex: 0, "aria-label": "Execution, a column for each thread",
      onkeydown: (event) => this.key(event) }, element("thead", {}, head), this.body);
    this.table = table;
    const ends = threads.map((name, thread) => [name, this.execution.ends[thread]]).filter(([, end]) => end && this.tellsEnds);
    return element("section", {},
      element("h2", {}, title),
      element("div", { class: "layout" },
        element("div", {}, element("div", { class: "lanes" }, table, this.arrows), this.legend(),
          ends.length ? element("h3", {}, "At the end") : null,
          ends.length ? element("ul", {}, ...ends.map(([name, end]) => element("li", {}, name + ": " + end))) : null,
          this.told(), this.old()),
        this.side));
  }

  /// Returns the arrows: pairs of rows of different threads, earlier row first, with their kinds.
  /// Those of the current event are last.
  edges() {
    const edges = [];
    const add = (kind, from, to) => {
      if (typeof from === "number" && this.rows[from].thread !== this.rows[to].thread) edges.push({ kind, from, to });
    };
    const numbers = this.shown.size > 400 ? [this.current] : this.shown.keys();
    for (const number of numbers) {
      const row = this.rows[number];
      (row.after || []).forEach((from) => add("after", from, number));
      add("reads", row.reads, number);
      add("sent", row.sent_in, number);
    }
    this.pairs.forEach((pair) => add("decides", pair.first, pair.second));
    this.unseen.forEach((pair) => add("unseen", pair.write, pair.read));
    const ofCurrent = (edge) => edge.from === this.current || edge.to === this.current;
    const others = edges.filter((edge) => !ofCurrent(edge) && ["decides", "unseen"].includes(edge.kind) || edges.length <= 200 && !ofCurrent(edge));
    return [...others, ...edges.filter(ofCurrent)];
  }

  drawSoon() {
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => { this.isDrawing = false; this.draw(); });
  }

  /// Draws the arrows between shown rows.
  draw() {
    const box = this.table.getBoundingClientRect();
    this.arrows.setAttribute("width", box.width);
    this.arrows.setAttribute("height", box.height);
    const place = (number) => this.shown.get(number)?.querySelector("td.own").getBoundingClientRect();
    const drawn = this.edges().flatMap(({ kind, from, to }) => {
      const [start, end] = [place(from), place(to)];
      if (!start || !end || !start.width || !end.width) return [];
      const isRight = start.left < end.left;
      // Cells leave room for the ends of arrows.
      const [x1, x2] = (isRight ? [start.right - 15, end.left + 15] : [start.left + 15, end.right - 15]).map((x) => x - box.left);
      const [y1, y2] = [start, end].map((cell) => cell.top + cell.height / 2 - box.top);
      const bend = (isRight ? 1 : -1) * Math.max(24, Math.abs(x2 - x1) / 3);
      const head = isRight ? -6 : 6;
      const isCurrent = from === this.current || to === this.current;
      return [svg("path", { class: kind + (isCurrent ? " current" : ""),
        d: `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2} M${x2 + head} ${y2 - 4} L${x2} ${y2} L${x2 + head} ${y2 + 4}` })];
    });
    this.arrows.replaceChildren(...drawn);
  }

  /// Explains the arrows that occur.
  legend() {
    const kinds = { after: "must come before", reads: "writes the value that the other event reads", sent: "sends the message that the other event receives", decides: "order matters",
      unseen: "writes a newer value, which the other event does not see" };
    const has = { after: this.rows.some((row) => row.after?.length), reads: this.rows.some((row) => row.reads !== undefined),
      sent: this.rows.some((row) => typeof row.sent_in === "number"), decides: this.pairs.length > 0,
      unseen: this.unseen.length > 0 };
    const items = Object.keys(kinds).filter((kind) => has[kind]).map((kind) => element("span", {},
      svg("svg", { class: "arrows sample", width: 28, height: 10, "aria-hidden": "true" }, svg("path", { class: kind, d: "M1 5 L26 5 M20 1 L26 5 L20 9" })), kinds[kind]));
    return items.length ? element("p", { class: "legend faint" }, ...items) : null;
  }

  /// Returns an event in a sentence: a button that goes there, and its text.
  named(row) {
    return [element("button", { type: "button", onclick: () => this.go(row) }, String(row + 1)),
      " " + this.execution.threads[this.rows[row].thread] + ": " + this.rows[row].text];
  }

  /// Lists the writes that reads did not see under a weak memory model.
  old() {
    if (!this.unseen.length) return null;
    const why = (through) => through ? [". The reason: ", ...this.named(through.second), " — reads from — ", ...this.named(through.first),
      ", but only an acquire load of a release store makes visible what came before the store"] : [];
    const item = (pair) => element("li", {}, ...this.named(pair.read), " — does not see — ", ...this.named(pair.write), ...why(pair.through));
    return element("div", {}, element("h3", {}, "The memory model lets a read get an old value"), element("ul", {}, ...this.unseen.map(item)));
  }

  /// Lists the pairs of events whose order matters.
  told() {
    if (!this.pairs.length) return null;
    const item = (pair) => element("li", {}, ...this.named(pair.first),
      pair === this.execution.conflict ? " — is not ordered with — " : " — came before — ", ...this.named(pair.second));
    return element("div", {}, element("h3", {}, "Events whose order matters"), element("ul", {}, ...this.pairs.map(item)));
  }

  fill() {
    let next = 0;
    for (const number of relevant(this.execution, this.decides)) {
      if (number > next) this.body.append(this.fold(next, number));
      this.body.append(this.row(number));
      next = number + 1;
    }
    if (next < this.rows.length) this.body.append(this.fold(next, this.rows.length));
  }

  fold(from, to) {
    const row = element("tr", { class: "fold" });
    row.fold = [from, to];
    const label = (to - from) + (to - from === 1 ? " more event" : " more events");
    row.append(element("td", { colspan: this.execution.threads.length + 1 },
      element("button", { type: "button", "aria-expanded": "false", onclick: () => this.unfold(row, from, to) }, "▸ " + label)));
    return row;
  }

  /// Shows at most 500 events of a folded part.
  unfold(fold, from, to) {
    const stop = Math.min(to, from + 500);
    const part = document.createDocumentFragment();
    for (let number = from; number < stop; number++) part.append(this.row(number));
    if (stop < to) part.append(this.fold(stop, to));
    fold.replaceWith(part);
    const first = this.shown.get(from);
    if (first) first.querySelector("button")?.focus();
    this.drawSoon();
  }

  row(number) {
    const row = this.rows[number];
    const marks = [];
    if (row.failed) marks.push(element("span", { class: "tag bad" }, "fails here"));
    if (this.pairs.some((pair) => pair.first === number || pair.second === number)) marks.push(element("span", { class: "tag bounded" }, "order matters"));
    if (this.unseen.some((pair) => pair.read === number)) marks.push(element("span", { class: "tag bad" }, "old value"));
    if (this.unseen.some((pair) => pair.write === number)) marks.push(element("span", { class: "tag bounded" }, "not seen"));
    const own = element("td", { class: "own", "data-thread": this.execution.threads[row.thread] }, row.text, ...marks,
      element("div", { class: "place" }, shortPlace(row.location)));
    const cells = this.execution.threads.map((_, thread) => thread === row.thread ? own : element("td", { class: "other" }));
    const made = element("tr", { class: (row.failed ? "failed " : "") + (this.decides.has(number) ? "decides" : ""),
      title: row.location, onclick: () => this.go(number) }, element("td", { class: "number" }, String(number + 1)), ...cells);
    this.shown.set(number, made);
    return made;
  }

  /// Marks an event.
  mark(number, text) {
    this.show(number);
    this.shown.get(number)?.querySelector("td.own").append(element("span", { class: "tag good" }, text));
  }

  key(event) {
    const moves = { ArrowDown: this.current + 1, ArrowUp: this.current - 1, j: this.current + 1, k: this.current - 1,
      Home: 0, End: this.rows.length - 1, f: this.rows.findIndex((row) => row.failed) };
    const to = moves[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "BUTTON") return;
    event.preventDefault();
    this.go(to);
  }

  /// Shows an event, which may be folded.
  show(number) {
    while (!this.shown.has(number)) {
      const fold = [...this.body.querySelectorAll("tr.fold")].find((row) => row.fold[0] <= number && number < row.fold[1]);
      if (!fold) break;
      // Unfolds only the neighbourhood of the event, not the whole folded part.
      const [from, to] = fold.fold;
      const start = Math.max(from, number - 20);
      const part = document.createDocumentFragment();
      if (from < start) part.append(this.fold(from, start));
      const stop = Math.min(to, number + 21);
      for (let each = start; each < stop; each++) part.append(this.row(each));
      if (stop < to) part.append(this.fold(stop, to));
      fold.replaceWith(part);
    }
  }

  go(number, scrolls = true) {
    if (number < 0 || number >= this.rows.length) return;
    this.shown.get(this.current)?.removeAttribute("aria-current");
    this.current = number;
    this.show(number);
    const row = this.shown.get(number);
    row?.setAttribute("aria-current", "true");
    if (scrolls) row?.scrollIntoView({ block: "nearest" });
    this.slider.value = number + 1;
    this.drawSoon();
    this.state();
  }

  /// Shows the state after the current event.
  state() {
    const current = this.rows[this.current];
    if (!current) return;
    const objects = new Map();
    const waiting = new Map();
    for (const row of this.rows.slice(0, this.current + 1)) {
      if (row.object !== undefined) objects.set(row.object, row.state);
      waiting.set(row.thread, row.waits ? row : null);
    }
    const next = new Map();
    for (const row of this.rows.slice(this.current + 1)) if (!next.has(row.thread)) next.set(row.thread, row);
    const threads = this.execution.threads.flatMap((name, thread) => {
      const following = next.get(thread);
      const wait = waiting.get(thread);
      const doing = !following ? this.execution.ends[thread] || "has ended"
        : (wait ? "waits until: " : "next: ") + following.text;
      return [element("dt", {}, name), element("dd", {}, doing)];
    });
    const values = [...objects.entries()].sort(([one], [other]) => one - other).flatMap(([object, state]) => {
      const changed = object === current.object ? "changed" : null;
      return [element("dt", { class: changed }, this.execution.objects[object]), element("dd", { class: changed }, state)];
    });
    const links = element("div", { class: "links" });
    const link = (label, to) => links.append(element("button", { type: "button", onclick: () => this.go(to) }, label + " (" + (to + 1) + ")"));
    if (current.reads !== undefined) link("Go to the write of this value", current.reads);
    this.unseen.filter((pair) => pair.read === this.current).forEach((pair) => link("Does not see", pair.write));
    if (typeof current.sent_in === "number") link("Go to the sending of this message", current.sent_in);
    (current.after || []).forEach((row) => link("Comes after", row));
    this.states.replaceChildren(
      element("h3", {}, "Event " + (this.current + 1) + " of " + this.rows.length),
      element("p", {}, element("strong", {}, this.execution.threads[current.thread]), ": ", element("code", {}, current.text)),
      current.location ? element("p", { class: "faint mono" }, current.location) : "",
      source(current.location) || "", links, ...(this.tellsStates ? [
      element("h3", {}, "Objects"), values.length ? element("dl", {}, ...values) : element("p", { class: "faint" }, "none so far"),
      element("h3", {}, "Threads"), element("dl", {}, ...threads)] : []));
  }
}

/// Draws the tree of the search: a line for each execution, from where it branches off.
function drawTree(tree) {
  const branches = tree.branches;
  if (!branches.length) return null;
  const deepest = Math.max(...branches.map((branch) => branch.events), 1);
  const step = branches.length > 200 ? 3 : branches.length > 60 ? 6 : 12;
  const width = 900, left = 8;
  const x = (event) => left + event / deepest * (width - 2 * left);
  const y = (number) => step / 2 + number * step;
  // The executions from which the current one may branch off, the latest last, each with the event at
  // which it branched off.
  const open = [];
  const lines = branches.map((branch, number) => {
    while (open.length && open.at(-1).kept >= branch.kept && number) open.pop();
    const parent = open.length ? open.at(-1).number : 0;
    open.push({ number, kept: branch.kept });
    const end = { complete: "complete", bug: "bug", halted: "halted", redundant: "redundant" }[branch.end];
    const told = "Execution " + (number + 1) + ": " + end + ", " + branch.events + (branch.events === 1 ? " event" : " events")
      + (number ? "; branches off at event " + (branch.kept + 1) + (branch.thread ? ", where " + branch.thread + " runs" : "") : "");
    const path = number ? `M${x(branch.kept)} ${y(parent)} V${y(number)} H${x(branch.events)}` : `M${x(0)} ${y(0)} H${x(branch.events)}`;
    const marks = branch.end === "bug" ? [svg("path", { class: "bug", d: `M${x(branch.events) - 4} ${y(number) - 4} l8 8 m0 -8 l-8 8` })]
      : branch.end === "redundant" ? [svg("path", { class: "redundant", d: `M${x(branch.events)} ${y(number) - 4} v8` })] : [];
    return svg("g", {}, svg("path", { class: end, d: path }), ...marks, svg("title", {}, told));
  });
  const count = (end) => branches.filter((branch) => branch.end === end).length;
  const counts = [["complete", "complete"], ["bug", "with a bug (×)"], ["halted", "halted (dotted)"], ["redundant", "redundant, cut short (dashed, |)"]]
    .filter(([end]) => count(end)).map(([end, label]) => count(end) + " " + label).join(", ");
  const height = branches.length * step + step;
  return element("div", {}, element("h3", {}, tree.is_whole ? "The search as a tree" : "The first executions of the search, as a tree"),
    element("p", { class: "faint" }, counts + ". Each line is an execution, with its events from left to right. It starts where it branches off from an execution above it."),
    element("div", { class: "tree", tabindex: 0, role: "group", "aria-label": "Tree of the search" },
      svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": counts }, ...lines)));
}
