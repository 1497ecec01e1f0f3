// The entry of the merchants' portal.
import { routerOf } from "./router.ts";
import { routes } from "./routes.tsx";
import { start } from "./start.tsx";

start(routerOf(routes));
