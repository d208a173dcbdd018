"use strict";
// QR symbols of level L in the alphanumeric mode, versions 1 to 27 (ISO/IEC 18004; tables and sections are its own).

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"; // table 5
// Table 9, level L, by version: codewords of error correction in each block, and how many blocks.
const CHECK_WORDS = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30];
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12];
const MASKS = [ // section 7.8.2, by row and column; a module is turned over where the condition holds
  (y, x) => (y + x) % 2 === 0, (y, x) => y % 2 === 0, (y, x) => x % 3 === 0, (y, x) => (y + x) % 3 === 0,
  (y, x) => ((y >> 1) + Math.floor(x / 3)) % 2 === 0, (y, x) => ((y * x) % 2) + ((y * x) % 3) === 0,
  (y, x) => (((y * x) % 2) + ((y * x) % 3)) % 2 === 0, (y, x) => (((y + x) % 2) + ((y * x) % 3)) % 2 === 0,
];

// Where alignment patterns are centred, along either axis: annex E. The spacing is even and the first gap takes the rest.
function alignmentCentres(version) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const last = 10 + 4 * version;
  const spacing = 2 * Math.ceil((last - 6) / (2 * (count - 1)));
  const centres = [6];
  for (let i = count - 2; i >= 0; i--) centres.push(last - i * spacing);
  return centres;
}

// The remainder of value * x^degree by a generator polynomial over GF(2): annexes C and D.
function remainder(value, generator, degree) {
  let rest = value << degree;
  for (let bit = 31 - Math.clz32(rest); rest >> degree; bit = 31 - Math.clz32(rest)) rest ^= generator << (bit - degree);
  return rest;
}

// ---- codewords: section 7.4 and 7.5 ----

const EXPONENTS = [];
const LOGARITHMS = [];
for (let power = 0, value = 1; power < 255; power++) {
  EXPONENTS[power] = value;
  LOGARITHMS[value] = power;
  value = (value << 1) ^ (value > 127 ? 0x11d : 0);
}

function product(a, b) {
  return a && b ? EXPONENTS[(LOGARITHMS[a] + LOGARITHMS[b]) % 255] : 0;
}

function checkWordsOf(data, count) {
  let generator = [1];
  for (let power = 0; power < count; power++) {
    const next = [...generator, 0];
    generator.forEach((term, i) => { next[i + 1] ^= product(term, EXPONENTS[power]); });
    generator = next;
  }
  const rest = [...data, ...new Array(count).fill(0)];
  for (let i = 0; i < data.length; i++) {
    const lead = rest[i];
    generator.forEach((term, j) => { rest[i + j] ^= product(term, lead); });
  }
  return rest.slice(data.length);
}

function totalWords(version) {
  const side = 17 + 4 * version;
  const centres = alignmentCentres(version).length;
  let modules = side * side - 3 * 64 - 2 * (side - 16) - 31; // finders, timing, format with the dark module
  if (centres) modules -= 25 * (centres * centres - 3) - 10 * (centres - 2);
  if (version >= 7) modules -= 36;
  return modules >> 3;
}

function dataWords(text, version, count) {
  const bits = [];
  const push = (value, length) => { for (let i = length - 1; i >= 0; i--) bits.push((value >> i) & 1); };
  push(2, 4);
  push(text.length, version < 10 ? 9 : version < 27 ? 11 : 13);
  for (let i = 0; i < text.length; i += 2) {
    const first = LETTERS.indexOf(text[i]);
    if (i + 1 < text.length) push(45 * first + LETTERS.indexOf(text[i + 1]), 11);
    else push(first, 6);
  }
  if (bits.length > 8 * count) throw new RangeError("the text does not fit the symbol");
  push(0, Math.min(4, 8 * count - bits.length));
  while (bits.length % 8) bits.push(0);
  const words = [];
  for (let i = 0; i < bits.length; i += 8) words.push(parseInt(bits.slice(i, i + 8).join(""), 2));
  for (let pad = 0xec; words.length < count; pad ^= 0xec ^ 0x11) words.push(pad);
  return words;
}

function interleaved(text, version) {
  const checks = CHECK_WORDS[version - 1];
  const blocks = BLOCKS[version - 1];
  const dataCount = totalWords(version) - checks * blocks;
  const words = dataWords(text, version, dataCount);
  const short = Math.floor(dataCount / blocks);
  const shortBlocks = blocks - (dataCount % blocks);
  const parts = [];
  for (let b = 0, at = 0; b < blocks; b++) {
    const length = short + (b >= shortBlocks ? 1 : 0);
    parts.push(words.slice(at, at + length));
    at += length;
  }
  const checkParts = parts.map((part) => checkWordsOf(part, checks));
  const result = [];
  for (let i = 0; i <= short; i++) for (const part of parts) if (i < part.length) result.push(part[i]);
  for (let i = 0; i < checks; i++) for (const part of checkParts) result.push(part[i]);
  return result;
}

// ---- modules: sections 6.3 and 7.7 to 7.10; null is a module that data will take ----

function withPatterns(version) {
  const side = 17 + 4 * version;
  const rows = Array.from({ length: side }, () => new Array(side).fill(null));
  const ring = (cy, cx, reach, dark) => {
    for (let y = -reach; y <= reach; y++) for (let x = -reach; x <= reach; x++) {
      if (rows[cy + y]?.[cx + x] !== undefined) rows[cy + y][cx + x] = dark(Math.max(Math.abs(y), Math.abs(x)));
    }
  };
  for (let i = 0; i < side; i++) rows[6][i] = rows[i][6] = i % 2 === 0;
  for (const [y, x] of [[3, 3], [3, side - 4], [side - 4, 3]]) ring(y, x, 4, (away) => away !== 2 && away !== 4);
  const centres = alignmentCentres(version);
  const last = centres[centres.length - 1];
  for (const y of centres) for (const x of centres) {
    if (!(y === 6 && (x === 6 || x === last)) && !(y === last && x === 6)) ring(y, x, 2, (away) => away !== 1);
  }
  if (version >= 7) {
    const information = (version << 12) | remainder(version, 0x1f25, 12);
    for (let i = 0; i < 18; i++) {
      const [near, far] = [Math.floor(i / 3), side - 11 + (i % 3)];
      rows[near][far] = rows[far][near] = Boolean((information >> i) & 1);
    }
  }
  writeFormat(rows, 0); // takes its places; the mask is not chosen yet
  return rows;
}

function writeFormat(rows, mask) {
  const side = rows.length;
  const level = (1 << 3) | mask; // 01 is level L
  const format = ((level << 10) | remainder(level, 0x537, 10)) ^ 0x5412;
  for (let i = 0; i < 15; i++) {
    const dark = Boolean((format >> i) & 1);
    if (i < 8) rows[8][side - 1 - i] = dark; else rows[side - 15 + i][8] = dark;
    if (i < 6) rows[i][8] = dark; else if (i < 8) rows[i + 1][8] = dark;
    else if (i === 8) rows[8][7] = dark; else rows[8][14 - i] = dark;
  }
  rows[side - 8][8] = true;
}

function placesOfData(rows) {
  const side = rows.length;
  const places = [];
  for (let right = side - 1, upward = true; right > 0; right -= 2, upward = !upward) {
    if (right === 6) right = 5; // the column of the timing pattern is left out
    for (let i = 0; i < side; i++) for (const x of [right, right - 1]) {
      const y = upward ? side - 1 - i : i;
      if (rows[y][x] === null) places.push([y, x]);
    }
  }
  return places;
}

// How badly a symbol would read: section 7.8.3.
function penalty(rows) {
  const side = rows.length;
  let [points, dark] = [0, 0];
  for (const at of [(i, j) => rows[i][j], (i, j) => rows[j][i]]) for (let i = 0; i < side; i++) {
    let [run, recent] = [0, 0];
    for (let j = 0; j < side; j++) {
      run = j && at(i, j) === at(i, j - 1) ? run + 1 : 1;
      if (run === 5) points += 3; else if (run > 5) points += 1;
      recent = ((recent << 1) | at(i, j)) & 0x7ff;
      if (j >= 10 && (recent === 0x5d0 || recent === 0x05d)) points += 40;
    }
  }
  for (let y = 0; y < side; y++) for (let x = 0; x < side; x++) {
    dark += rows[y][x] ? 1 : 0;
    const square = y && x && rows[y][x] + rows[y - 1][x] + rows[y][x - 1] + rows[y - 1][x - 1];
    if (y && x && square % 4 === 0) points += 3;
  }
  return points + 10 * Math.floor(Math.abs(20 * dark - 10 * side * side) / (side * side));
}

function smallestVersion(text) {
  for (let version = 1; version <= BLOCKS.length; version++) {
    const words = totalWords(version) - CHECK_WORDS[version - 1] * BLOCKS[version - 1];
    const bits = 4 + (version < 10 ? 9 : version < 27 ? 11 : 13) + 11 * (text.length >> 1) + 6 * (text.length % 2);
    if (bits <= 8 * words) return version;
  }
  throw new RangeError("the text does not fit a symbol of version " + BLOCKS.length);
}

// Returns {rows, mask}: the modules from the top, true is dark, and which of the eight masks was the best.
function symbolOf(text) {
  const version = smallestVersion(text);
  const words = interleaved(text, version);
  const patterns = withPatterns(version);
  const places = placesOfData(patterns);
  let best = { points: Infinity };
  MASKS.forEach((turned, mask) => {
    const rows = patterns.map((row) => [...row]);
    places.forEach(([y, x], i) => { rows[y][x] = Boolean((words[i >> 3] >> (7 - (i & 7))) & 1) !== turned(y, x); });
    writeFormat(rows, mask);
    const points = penalty(rows);
    if (points < best.points) best = { points, rows, mask };
  });
  return { rows: best.rows, mask: best.mask };
}
