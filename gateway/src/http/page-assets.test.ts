// Goal: an asset comes in the best encoding that the client takes, and never in one that it refuses. Method: the status page's style, asked for as
// browsers and proxies ask.
import { expect, test } from "vitest";
import { bareServer } from "../../test/bare-server.ts";
import { STYLE_PATH, openStatusAssets } from "../status/assets.ts";

test.each([
  ["gzip, deflate, br", "br"],
  ["gzip", "gzip"],
  ["br;q=0, gzip", "gzip"],
  ["br; Q=0.000, gzip;q=0.5", "gzip"],
  ["br;q=0, gzip;q=0", undefined],
  ["x-gzip-like", undefined],
  ["identity", undefined],
  ["", undefined],
])("accept-encoding %j is answered with %j", async (accepted, encoding) => {
  const server = bareServer();
  openStatusAssets(server);
  const { headers } = await server.inject({ url: STYLE_PATH, headers: { "accept-encoding": accepted } });
  expect([headers["content-encoding"], headers.vary]).toEqual([encoding, "accept-encoding"]);
});
