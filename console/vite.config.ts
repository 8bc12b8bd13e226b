import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // Nothing is inlined: the policy of the page allows files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
