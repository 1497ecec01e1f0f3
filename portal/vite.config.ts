// How the pages are bundled: hashed names under /portal/assets and /console/assets, and nothing inline: the Content-Security-Policy forbids it.
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  // The portal's base; build.ts and dev.ts set the base of the face that they build or serve.
  base: "/portal/",
  plugins: [react(), tailwind()],
  build: {
    // build.ts sets another folder. This one takes the output of `npx vite build`, which is not served.
    outDir: "dist/by-hand",
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 900,
    // What every page needs is one file, and what many pages share another: many small files compress worse, and each is a request.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "entry", tags: ["$initial"], priority: 1 },
            { name: "shared", minShareCount: 8 },
          ],
        },
      },
    },
  },
});
