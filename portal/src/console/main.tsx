// The operators' console.
import { routerOf } from "../router.ts";
import { start } from "../start.tsx";
import { routes } from "./routes.tsx";

start(routerOf(routes));
