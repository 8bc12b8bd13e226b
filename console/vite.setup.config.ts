import { defineConfig } from 'vite';

/** The page of setup links, a bundle of its own: it shares nothing with the console. */
export default defineConfig({
  root: `${import.meta.dirname}/setup`,
  base: '/setup/',
  build: {
    outDir: '../../dist/setup',
    emptyOutDir: true,
    target: 'es2022',
    // Nothing is inlined: the policy of the page allows files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
