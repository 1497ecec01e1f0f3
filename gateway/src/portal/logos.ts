// Serves merchants' logos to payer pages and the portal, with headers that keep a browser from treating them as anything but pictures.
import type { FastifyInstance } from "fastify";
import { Fault } from "../ground/fault.ts";
import type { Profiles } from "../merchants/profiles.ts";

/** The address contains the logo's digest: answers may be cached for good, and nobody can guess the address of a logo that they were not shown. */
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
