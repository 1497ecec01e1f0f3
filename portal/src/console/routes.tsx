// The console's route tree: two layouts, and the pages of pages.ts below them.
import { createRootRoute, createRoute } from "@tanstack/react-router";
import { accountPages } from "../pages.ts";
import { below } from "../router.ts";
import { Root } from "../shell/root.tsx";
import { guestPages, operatorPages, screenPages } from "./pages.ts";
import { AccountLayout } from "./shell/account-layout.tsx";
import { ScreenLayout } from "./shell/screen-layout.tsx";
import { ConsoleLayout } from "./shell/console-layout.tsx";

const root = createRootRoute({ component: Root });
const account = createRoute({ getParentRoute: () => root, id: "account", component: AccountLayout });
const operator = createRoute({ getParentRoute: () => root, id: "operator", component: ConsoleLayout });
const screen = createRoute({ getParentRoute: () => root, id: "screen", component: ScreenLayout });

export const routes = root.addChildren([
  ...below(root, guestPages),
  account.addChildren(below(account, accountPages)),
  operator.addChildren(below(operator, operatorPages)),
  screen.addChildren(below(screen, screenPages)),
]);
