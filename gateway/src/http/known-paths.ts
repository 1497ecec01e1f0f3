// The routes of a server with their methods, so that a known path with another method differs from an unknown path.
import type { FastifyInstance } from "fastify";
import { Fault } from "../ground/fault.ts";

export class KnownPaths {
  private readonly routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  /** Notes every route that is added to the server from now on. */
  watch(server: FastifyInstance): void {
    server.addHook("onRoute", ({ url, method }) => {
      const literals = url.split(/:\w+/).map((literal) => RegExp.escape(literal));
      const pattern = new RegExp(`^${literals.join("[^/]+")}$`);
      const { methods } = this.routes.getOrInsert(url, { pattern, methods: new Set() });
      for (const one of [method].flat()) methods.add(one);
    });
  }

  /** METHOD_NOT_ALLOWED for a known path, with the methods that it has; else ROUTE_NOT_FOUND. */
  faultFor(target: string): Fault {
    const [path = ""] = target.split(/[?#]/, 1);
    const allow = [...this.routes.values()].flatMap(({ pattern, methods }) => (pattern.test(path) ? [...methods] : []));
    return allow.length === 0
      ? new Fault("ROUTE_NOT_FOUND")
      : new Fault("METHOD_NOT_ALLOWED", { allow: [...new Set(allow)].sort() });
  }
}
