"use strict";
/* Labels that fit, for every picture that draws by itself. Needs `column`, the width of a letter. */
/* A name without its return type, arguments and notes; as pmfs_name_bare does. */
function bare(name) {
  const opening = (text, open, close) => {
    let depth = 0;
    for (let i = text.length - 1; i >= 0; i--) {
      if (text[i] === close) depth++;
      if (text[i] === open && --depth === 0) return i;
    }
    return text.length;
  };
  for (let at; ; ) {
    at = name.endsWith("]") ? opening(name, "[", "]") : name.length;
    if (name.endsWith(" const")) name = name.slice(0, -6);
    else if (at < name.length && at > 1 && name[at - 1] === " ") name = name.slice(0, at - 1);
    else break;
  }
  const at = name.endsWith(")") ? opening(name, "(", ")") : name.length;
  const signed = at > 0 && at < name.length && name[at - 1] !== " " && !name.slice(0, at).endsWith("operator");
  if (signed) name = name.slice(0, at);
  if (!signed && !name.endsWith(">")) return name;
  const space = text => {
    for (let i = text.length - 1, depth = 0; i >= 0; i--) {
      if (")}]".includes(text[i]) || (text[i] === ">" && text[i - 1] !== "-")) depth++;
      else if ("({[<".includes(text[i]) && depth > 0) depth--;
      else if (text[i] === " " && depth === 0 && !text.startsWith(") const::", i - 1)) return i + 1; /* what is within a function is named behind it */
    }
    return 0;
  };
  const from = space(name);
  if (from === 0 || from === name.length) return name;
  const before = name.slice(0, from - 1), word = space(before);
  return name.slice(before.slice(word).endsWith("operator") ? word : from);
}

/* The bare name of the function of which a compiler made this one, and what tells it from others of that; as pmfs_name_original does. */
function original(name) {
  const short = bare(name), made = short.slice(1).search(/\.(_omp_fn|isra|part|constprop|llvm|lto_priv|localalias|cold)\.\d|\.omp_outlined|\.cold$/) + 1;
  if (made) return [short.slice(0, made), short.slice(made)];
  const notes = name.slice(name.indexOf(short) + short.length).match(/(?: \[clone [^\]]*\])+/);
  return [short, notes ? notes[0] : ""];
}

/* Where that begins by which marks differ: the last number, or what stands last. */
function numberOf(mark) {
  const at = mark[0] === "." ? mark.search(/\.\d[^.]*(?:\.(?!\d)[^.]*)*$/) : -1;
  return at >= 0 ? at : mark.lastIndexOf(".");
}

/* Where the last component of a bare name begins that begins before a place. */
function component(name, before) {
  const offset = name.indexOf("+0x");
  if (offset >= 0) return offset < before ? offset : 0;
  if (name.endsWith(" addresses)")) return 0;
  for (let i = before - 1, depth = 0; i >= 0; i--) {
    const c = name[i];
    if (")}>".includes(c)) depth++;
    else if ("({<".includes(c) && depth > 0) depth--;
    else if (depth === 0 && i + 1 < before && (c === "/" || (c === "." && !/^\.so(?:[.\] ]|$)/.test(name.slice(i, i + 4))) || (c === " " && name[0] === "<") || (c === ":" && name[i - 1] === ":"))) return i + 1;
  }
  return 0;
}

const columnsOf = text => [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) > 0x10ff ? 2 : 1), 0);

/* The last components after `…`, the beginning of the last one before `…`, or nothing. */
function shortened(short, most) {
  if (most < 4) return "";
  let last = short, best = "";
  for (let at = short.length; at > 0; ) {
    at = component(short, at);
    const part = short.slice(at);
    if (at === 0 || /^[0-9](?!x)/.test(part) || columnsOf(part) < 3) continue;
    if (last === short && part[0] !== "+") last = part;
    if (columnsOf(part) > most - 1) break;
    best = part;
  }
  if (best) return "…" + best;
  let cut = "";
  for (const letter of last) {
    if (columnsOf(cut + letter) > most - 1) break;
    cut += letter;
  }
  return cut && cut + "…";
}

/* What of a name fits and tells it from others; as pmfs_svg_cut does. */
function fit(name, room) {
  const most = Math.floor(room / column), [short, mark] = original(name);
  if (columnsOf(name) <= most) return name;
  if (columnsOf(short + mark) <= most) return short + mark;
  let end = mark.slice(numberOf(mark)).replace(/\]$/, "");
  if (most < end.length + 4) end = end.replace(/^(.[^.]*)\..*/s, "$1");
  const left = most - end.length;
  const shown = end && columnsOf(short) < left ? short + "…" : shortened(short, left);
  return shown && shown + end;
}
