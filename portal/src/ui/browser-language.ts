// A Chromium on a system without a locale says "en-US@posix", with which uPlot fails when it is loaded: imported before it, this names a language.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en", configurable: true });
}
