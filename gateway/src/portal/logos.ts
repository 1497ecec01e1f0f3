// Logos of merchants, as payer pages and the portal show them: pictures and nothing else, whatever a browser would make of them.
import type { FastifyInstance } from "fastify";
import { Fault } from "../ground/fault.ts";
import type { Profiles } from "../merchants/profiles.ts";

/** Another logo has another address, so an answer may be kept for good. Nobody can guess the address of one they were not shown. */
export function openLogos(server: FastifyInstance, profiles: Profiles): void {
  server.get("/logos/:merchant_id/:digest", async (request, reply) => {
    const { merchant_id: merchantId = "", digest = "" } = request.params as Record<string, string>;
    const logo = await profiles.logo(merchantId, digest);
    if (!logo) throw new Fault("ROUTE_NOT_FOUND");
    return reply
      .headers({
        "content-type": logo.type,
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "public, max-age=31536000, immutable",
      })
      .send(logo.bytes);
  });
}
