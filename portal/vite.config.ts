// How the pages are bundled: hashed names under /portal/assets and /console/assets, and nothing inlined, which the Content-Security-Policy would refuse.
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  // Of the portal; build.ts and dev.ts name that of the face that they are about.
  base: "/portal/",
  plugins: [react(), tailwind()],
  build: {
    // build.ts names another folder; this is where `npx vite build` leaves what is only looked at.
    outDir: "dist/by-hand",
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 900,
  },
});
