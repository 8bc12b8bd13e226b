// What `npm start` runs. npm puts a shell between itself and this process, and a shell that is ended does not always
// pass the signal on: when it is gone, this process ends as if it had got the signal itself.
process.setSourceMapsEnabled(true);
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  process.kill(process.pid, 'SIGTERM');
}, 500).unref();
// A second signal would cut short what the first one lets finish.
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => clearInterval(watch));
await import('../dist/src/main.js');
