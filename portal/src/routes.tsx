// The portal's route tree: three layouts, and the pages of pages.ts below them.
import { createRootRoute, createRoute } from "@tanstack/react-router";
import { accountPages, guestPages, merchantPages } from "./pages.ts";
import { below } from "./router.ts";
import { AccountLayout } from "./shell/account-layout.tsx";
import { MerchantLayout } from "./shell/merchant-layout.tsx";
import { Root } from "./shell/root.tsx";
import { Start } from "./shell/start.tsx";

const root = createRootRoute({ component: Root });
const start = createRoute({ getParentRoute: () => root, path: "/", component: Start });
const account = createRoute({ getParentRoute: () => root, id: "account", component: AccountLayout });
const merchant = createRoute({
  getParentRoute: () => root,
  path: "/$merchant/$environment",
  component: MerchantLayout,
});

export const routes = root.addChildren([
  start,
  ...below(root, guestPages),
  account.addChildren(below(account, accountPages)),
  merchant.addChildren(below(merchant, merchantPages)),
]);
