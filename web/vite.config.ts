import { gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vite';

/** What a browser loads before it can show the first page, compressed. */
const FIRST_LOAD_LIMIT_KB = 250;

/** A gateway for `npm run dev`. */
const GATEWAY = process.env['TAMIS_GATEWAY'] ?? 'http://127.0.0.1:8080';

const API_PATHS =
  '^/(app/session|api/|partition|indexer|queue|search|extract|static|users|model-endpoints|presets|prompts|v1/|admin/|ready|version|config)';

/** Adds the script that the entry needs at once; the build fails when it grows beyond the limit. */
function firstLoad(): Plugin {
  return {
    name: 'first-load',
    generateBundle(_options, bundle) {
      const wanted = new Set<string>();
      const collect = (file: string): void => {
        const chunk = bundle[file];
        if (wanted.has(file) || chunk?.type !== 'chunk') return;
        wanted.add(file);
        chunk.imports.forEach(collect);
      };
      for (const [file, chunk] of Object.entries(bundle))
        if (chunk.type === 'chunk' && chunk.isEntry) collect(file);
      const bytes = [...wanted].reduce((sum, file) => {
        const chunk = bundle[file];
        return sum + (chunk?.type === 'chunk' ? gzipSync(chunk.code).length : 0);
      }, 0);
      const kb = bytes / 1000;
      console.log(`first load: ${kb.toFixed(1)} kB of compressed script (limit ${FIRST_LOAD_LIMIT_KB} kB)`);
      if (kb > FIRST_LOAD_LIMIT_KB) this.error('the first load is over its limit');
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [react(), firstLoad()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
  },
  server: { proxy: { [API_PATHS]: { target: GATEWAY } } },
});
