// SPDX-License-Identifier: BSD-3-Clause
// Lists the messages that have the most words of the text in the field.
const field = document.getElementById("message"), list = document.getElementById("alike");
const words = text => new Set(text.toLowerCase().match(/[a-z]{2,}/g) || []);
const known = messages.map(([where, text]) => ({ where, text, words: words(text) }));

field.addEventListener("input", () => {
  const wanted = words(field.value);
  const shared = one => [...one.words].filter(word => wanted.has(word)).length;
  const alike = known
    .map(one => ({ ...one, score: 2 * shared(one) / (one.words.size + wanted.size) }))
    .filter(one => one.score > 0.3)
    .sort((a, b) => b.score - a.score);
  list.replaceChildren(...alike.slice(0, 8).map(one => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = one.where;
    link.textContent = one.text;
    item.append(link);
    return item;
  }));
});
