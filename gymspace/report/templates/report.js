"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const data = (id) => { const found = one(`#${id}`); return found ? JSON.parse(found.textContent) : null; };
  const make = (tag, set = {}, ...inner) => {
    const made = Object.assign(document.createElement(tag), set);
    made.append(...inner);
    return made;
  };

  async function unpacked(id) {
    const bytes = Uint8Array.from(atob(one(`#${id}`).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  // Figures: drawn when they come near, and again when the page turns dark or light.
  const drawn = new Map();
  const sources = new WeakMap();
  const plotly = unpacked("plotly").then((code) => {
    document.head.append(make("script", { textContent: code }));
    return window.Plotly;
  });
  const source = (plot) => {
    if (!sources.has(plot)) sources.set(plot, JSON.parse(one("script", plot.closest("figure")).textContent));
    return sources.get(plot);
  };
  function themed(layout) {
    const style = getComputedStyle(document.documentElement);
    const [ink, line, card] = ["--ink", "--line", "--card"].map((name) => style.getPropertyValue(name).trim());
    const font = { ...layout.font, color: ink, family: getComputedStyle(document.body).fontFamily };
    const hover = { bgcolor: card, bordercolor: line, font: { color: ink } };
    const touch = matchMedia("(pointer: coarse)").matches ? { dragmode: false } : {};
    const out = { ...layout, ...touch, font, paper_bgcolor: card, plot_bgcolor: "rgba(0,0,0,0)", hoverlabel: hover };
    for (const key of Object.keys(out).filter((key) => /^[xy]axis/.test(key))) {
      out[key] = { gridcolor: line, linecolor: line, zerolinecolor: line, ...out[key] };
    }
    return out;
  }
  async function draw(plot) {
    const Plotly = await plotly;
    const { data: traces, layout } = source(plot);
    const shown = plot.closest("#curves") ? chosenTraces(traces) : traces;
    drawn.set(plot, true);
    await Plotly.react(plot, shown, themed(layout), { responsive: true, displaylogo: false, displayModeBar: false });
    plot.dataset.drawn = "yes";
  }
  const redraw = () => Promise.all([...drawn.keys()].filter((plot) => plot.offsetParent).map(draw));
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) { near.unobserve(target); draw(target); }
    }
  }, { rootMargin: "600px" });
  all(".plot").forEach((plot) => near.observe(plot));
  const shown = () => all(".plot").filter((plot) => plot.offsetParent);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  matchMedia("print").addEventListener("change", () => shown().forEach(draw)); // on paper it is light
  window.addEventListener("beforeprint", () => shown().forEach(draw));

  for (const select of all("select[data-shows]")) {
    const figures = all(`figure[data-panel="${select.dataset.shows}"]`);
    const show = () => {
      figures.forEach((figure, at) => { figure.hidden = at !== Number(select.value); });
      draw(one(".plot", figures[Number(select.value)]));
    };
    select.addEventListener("change", show);
    if (select.selectedIndex > 0) show(); // a reload keeps what was chosen
  }

  // Curves: those of the chosen designs, each in its own colour.
  const colours = ["#2f7fc1", "#cf7310", "#2f9a5b", "#d1495b", "#8a63c7", "#1f96a3", "#a0703c", "#c7538f"];
  const labels = data("curves-data") || {};
  const chosen = new Map(Object.keys(labels).slice(0, 5).map((key, at) => [key, at]));
  const colour = (key) => colours[chosen.get(key) % colours.length];
  function chosenTraces(traces) {
    return traces.filter((trace) => chosen.has(trace.meta)).map((trace) => trace.fill
      ? { ...trace, fillcolor: colour(trace.meta) }
      : { ...trace, line: { ...trace.line, color: colour(trace.meta) } });
  }
  function listChosen() {
    const list = one("#chosen");
    if (!list) return;
    const chips = [...chosen.keys()].map((key) => {
      const dot = make("i");
      dot.style.background = colour(key);
      const chip = make("button", { type: "button", title: "remove" }, dot, labels[key]);
      chip.dataset.design = key;
      chip.setAttribute("aria-label", `remove ${labels[key]}`);
      chip.addEventListener("click", () => { chosen.delete(key); showChosen(); });
      return chip;
    });
    const hint = make("p", { textContent: "Add a design by its link in the leaderboard." });
    list.replaceChildren(...chips, ...(chips.length ? [] : [hint]));
  }
  function showChosen() {
    listChosen();
    return Promise.all(all("#curves figure:not([hidden]) .plot").map(draw));
  }
  function follow() {
    const key = decodeURIComponent(location.hash.slice(1)).replace(/^curves:/, "");
    if (!labels[key]) return;
    if (!chosen.has(key)) {
      const used = new Set(chosen.values());
      chosen.set(key, [...Array(used.size + 1).keys()].find((at) => !used.has(at)));
    }
    one("#curves").scrollIntoView();
    showChosen();
  }
  listChosen();
  window.addEventListener("hashchange", follow);

  // Leaderboard
  const four = (value) => (value !== 0 && Math.abs(value) < 5e-5 ? (Math.abs(value) < 1e-12 ? "0.0000" : value.toExponential(1)) : value.toFixed(4));
  const plain = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(4))));
  const small = (text) => { const made = make("small"); made.textContent = text; return made.outerHTML; };
  const safe = (text) => { const made = make("span"); made.textContent = text; return made.innerHTML; };
  const renders = {
    number: (value) => (value === null ? "-" : plain(value)),
    text: (value) => safe(value),
    choice: (value) => (typeof value === "number" ? plain(value) : safe(value)),
    score: (value) => (value === null ? "-" : `<span class="score">${four(value[0])}</span>${value[1] === null ? "" : small(` ± ${four(value[1])}`)}`),
    seeds: (value) => safe(value[1]),
    curves: (key) => (key ? `<a href="#curves:${encodeURIComponent(key)}" aria-label="curves of ${safe(labels[key])}">show</a>` : ""),
  };
  const sorts = {
    number: (value) => (value === null ? Infinity : value),
    score: (value, { high }) => (value === null ? (high ? -Infinity : Infinity) : value[0]),
    seeds: (value) => value[0],
  };
  const numeric = (column) => ["number", "score", "seeds"].includes(column.kind) || column.numeric;

  async function board() {
    const { columns, rows } = data("board-data");
    const url = URL.createObjectURL(new Blob([await unpacked("datatables")], { type: "text/javascript" }));
    const { default: DataTable } = await import(url);
    URL.revokeObjectURL(url);
    const table = new DataTable("#board", {
      data: rows,
      columns: columns.map((column, at) => ({
        title: column.title,
        orderable: column.kind !== "curves",
        orderSequence: column.high ? ["desc", "asc", ""] : ["asc", "desc", ""],
        type: numeric(column) ? "num" : "string",
        className: numeric(column) ? "number" : "",
        render: (_, type, row) => {
          const value = row[at];
          if (type === "display") return renders[column.kind](value);
          if (type === "filter") return String(Array.isArray(value) ? value[0] : value);
          return (sorts[column.kind] || ((same) => same))(value, column);
        },
      })),
      order: [],
      autoWidth: false,
      deferRender: true,
      pageLength: 25,
      lengthMenu: [10, 25, 100, 1000],
      stateSave: Boolean(document.body.dataset.state),
      layout: { topStart: "search", topEnd: "pageLength", bottomStart: "info", bottomEnd: "paging" },
      language: {
        search: "search", lengthMenu: "_MENU_ designs a page", emptyTable: "no design has finished",
        info: "_START_ to _END_ of _TOTAL_ designs", infoEmpty: "no design", infoFiltered: "(of _MAX_)",
        zeroRecords: "no design matches", searchPlaceholder: "any column",
      },
    });
    const wide = one(".dt-layout-table");
    Object.assign(wide, { tabIndex: 0, role: "region", ariaLabel: "Leaderboard" });
    filters(table, columns, rows);
    one("#board").dataset.ready = "yes";
  }
  function filters(table, columns, rows) {
    const picked = new Map();
    table.search.fixed("choices", (_, row) => [...picked].every(([at, value]) => String(row[at]) === value));
    const kinds = (column, at) => (["task", "metric"].includes(column.title) && column.kind === "text"
      ? [...new Set(rows.map((row) => row[at]))].sort() : column.choices || []);
    const lists = columns.flatMap((column, at) => {
      const choices = kinds(column, at);
      if (choices.length < 2) return [];
      const list = make("select", { ariaLabel: column.title }, make("option", { value: "", textContent: "any" }));
      list.append(...choices.map((choice) => make("option", { value: String(choice), textContent: String(choice) })));
      list.addEventListener("change", () => {
        if (list.selectedIndex === 0) picked.delete(at); else picked.set(at, list.value);
        table.draw();
      });
      return [make("label", {}, column.title, list)];
    });
    const reset = make("button", { type: "button", textContent: "clear" });
    reset.addEventListener("click", () => {
      picked.clear();
      all("#filters select").forEach((list) => { list.selectedIndex = 0; });
      table.search("").order([]).draw();
    });
    one("#filters").replaceChildren(...lists, ...(lists.length ? [reset] : []));
  }
  board().then(follow);

  // Live: ask for news now and then; a page with more in it replaces this one.
  const { state, version } = document.body.dataset;
  async function news() {
    let wait = 3000;
    try {
      const found = await (await fetch(state)).json();
      one("#news").textContent = found.text;
      wait = Math.max(wait, found.wait * 1000);
      if (found.version !== version && !document.hidden) { location.reload(); return; }
    } catch { one("#news").textContent = "the server does not answer"; }
    setTimeout(news, wait);
  }
  if (state) news();
})();
