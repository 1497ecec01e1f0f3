// Goal: the wall calls what waits as the pages call it that one goes to from there. Method: the figures' words, without a browser.
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { kindNames, kindOf } from "../waiting/kinds.ts";
import { Figures } from "./figures.tsx";
import type { WallPicture } from "./live.ts";

test.each(kindNames)("what waits as %s has the name that it has among what waits", (kind) => {
  const total = { asked: 0, succeeded: 0, failed: 0, rejected: 0, expired: 0 };
  const now = { payments_per_second: 0, failed_per_second: 0, requests_per_second: 0, delivery_oldest_seconds: 0 };
  const waiting = [{ kind, count: 2, is_more: false, oldest_at: null }];
  const picture = { payments: { total, amounts: [] }, now, waiting } as unknown as WallPicture;
  const words = renderToStaticMarkup(createElement(Figures, { of: picture, language: "en" }));
  expect(words).toContain(`>${kindOf(kind).name}<`);
});
