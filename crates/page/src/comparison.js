
const { comparison, text } = data;
const number = (value) => value === null || value === undefined ? "" : Number(value).toLocaleString("en", { maximumFractionDigits: 3 });

function cells(name, values) {
  return element("tr", {}, element("th", { scope: "row" }, name), ...values.map((value) => element("td", {}, value)));
}

/// Returns a bar for the number of executions of an algorithm, relative to the largest number.
function bar(count) {
  const most = Math.max(...comparison.measured.map((own) => own.executions + own.halted + own.cut), 1);
  return svg("svg", { viewBox: "0 0 100 8", width: 100, height: 8, role: "img", "aria-label": number(count) },
    svg("rect", { class: "bar", x: 0, y: 0, width: Math.max(count / most * 100, 0.5), height: 8 }));
}

const headings = ["", "verdict", "executions", "halted", "cut", "probes", "events", "seconds", "MB", ""];
const measured = comparison.measured.map((own) => cells(own.algorithm.replaceAll("_", "-"), [own.verdict, number(own.executions), number(own.halted),
  number(own.cut), number(own.probes), number(own.events), number(own.seconds), number(own.peak_rss_bytes / 1e6), bar(own.executions + own.halted + own.cut)]));
const published = comparison.published.map((own) => cells(own.source, ["published", number(own.executions), "", "", "", "", number(own.seconds),
  number(own.megabytes), ""]));
document.title = "Algorithms on " + comparison.program;
main.append(element("h1", {}, document.title),
  element("p", {}, [comparison.traces === null ? null : number(comparison.traces) + " traces", comparison.closed_form].filter(Boolean).join(": ")),
  element("div", { class: "wide" }, element("table", { class: "comparison" },
    element("thead", {}, element("tr", {}, ...headings.map((heading) => element("th", { scope: "col" }, heading)))),
    element("tbody", {}, ...measured, ...published))),
  element("details", {}, element("summary", {}, "As text"), element("pre", {}, text)));
