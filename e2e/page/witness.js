// SPDX-License-Identifier: Apache-2.0
// Notes what the page receives from the API, and what it shows of it, at the moments at which it shows it: so both are
// of one View, however soon there is another.
(() => {
  /** What was shown when a key had been pressed, by key; and all that the panel has shown of places. */
  const witness = (window.witness = { pressed: {}, panels: [] });
  let overview = null; // the newest
  let frame = null; // the newest, with the overview that came with it

  // The first listener is called first, so the page has received this too.
  window.EventSource = class extends window.EventSource {
    constructor(...of) {
      super(...of);
      this.addEventListener('overview', (event) => (overview = JSON.parse(event.data)));
      this.addEventListener('frame', (event) => (frame = { ...JSON.parse(event.data), overview }));
      this.addEventListener('diff', (event) => {
        const diff = JSON.parse(event.data);
        frame = { ...frame, overview, generation: diff.generation };
        for (const row of diff.places) frame.places[row.index] = row;
      });
    }
  };

  // The page shows an answer in the moment in which it has read it.
  const real = window.fetch;
  let answer = null;
  window.fetch = async (...of) => {
    const response = await real(...of);
    const read = response.json.bind(response);
    response.json = async () => {
      const doc = await read();
      if (response.url.includes('/api/v1/place?')) answer = { asked: response.url, doc };
      return doc;
    };
    return response;
  };

  const text = (element) => element?.innerText ?? '';
  addEventListener('DOMContentLoaded', () => {
    const panel = document.querySelector('#panel');
    new MutationObserver(() => {
      const tokens = [...panel.querySelectorAll('.tokens > li:has(> button)')];
      if (panel.querySelector('.panel-head p')?.textContent !== 'place' || !tokens.length) return;
      witness.panels.push({ ...answer, title: text(panel.querySelector('h2')), tokens: tokens.map(text) });
    }).observe(panel, { childList: true });
    // The page's own listener is there already, and has shown what it does.
    addEventListener('keydown', (event) => {
      const resting = frame.resting ?? [];
      const since = frame.places.map((row, i) => (resting.includes(i) ? undefined : row.oldest_since));
      const first = since.filter(Boolean).sort()[0]; // of one length, so in the order of time
      witness.pressed[event.key] = {
        generations: [frame.generation, frame.overview.generation],
        sent: frame.overview.nets.find((net) => net.id === frame.net).oldest_place,
        stuck: [...since.keys()].filter((i) => first && since[i] === first),
        row: text(document.querySelector('.tables tbody th')),
        address: location.hash,
      };
    });
  });
})();
