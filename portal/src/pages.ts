// The file of each address of the portal. A page's file is loaded when the page is first opened.
import type { FunctionComponent } from "react";

export type Load = () => Promise<{ Page: FunctionComponent }>;

/** Pages that need no session or stand outside the frame. */
export const guestPages: Record<string, Load> = {
  "/sign-in": () => import("./pages/sign-in.tsx"),
  "/invitation": () => import("./pages/invitation.tsx"),
  "/device": () => import("./pages/device.tsx"),
};

/** Pages for a signed-in person. */
export const accountPages: Record<string, Load> = {
  "/account": () => import("./pages/account.tsx"),
  "/account/password": () => import("./pages/account/password.tsx"),
  "/account/authenticator": () => import("./pages/account/authenticator.tsx"),
  "/account/passkeys": () => import("./pages/account/passkeys.tsx"),
  "/account/sessions": () => import("./pages/account/sessions.tsx"),
};

/** Pages for a member of a merchant, below /$merchant/$environment. */
export const merchantPages: Record<string, Load> = {
  "/": () => import("./pages/home.tsx"),
  "/payments": () => import("./pages/payments.tsx"),
  "/payments/new": () => import("./pages/payments/new.tsx"),
  "/payments/$reference": () => import("./pages/payments/reference.tsx"),
  "/links": () => import("./pages/links.tsx"),
  "/links/new": () => import("./pages/links/new.tsx"),
  "/links/$uuid": () => import("./pages/links/uuid.tsx"),
  "/refunds": () => import("./pages/refunds.tsx"),
  "/refunds/$uuid": () => import("./pages/refunds/uuid.tsx"),
  "/disputes": () => import("./pages/disputes.tsx"),
  "/disputes/$uuid": () => import("./pages/disputes/uuid.tsx"),
  "/settlements": () => import("./pages/settlements.tsx"),
  "/settlements/$uuid": () => import("./pages/settlements/uuid.tsx"),
  "/balances": () => import("./pages/balances.tsx"),
  "/balances/$currency": () => import("./pages/balances/currency.tsx"),
  "/balances/$currency/statement": () => import("./pages/balances/currency/statement.tsx"),
  "/balances/journals/$journal_id": () => import("./pages/balances/journals/journal-id.tsx"),
  "/developers/keys": () => import("./pages/developers/keys.tsx"),
  "/developers/keys/$client_id": () => import("./pages/developers/keys/client-id.tsx"),
  "/developers/webhooks": () => import("./pages/developers/webhooks.tsx"),
  "/developers/webhooks/deliveries/$event_id": () => import("./pages/developers/webhooks/event-id.tsx"),
  "/developers/webhooks/exam": () => import("./pages/developers/webhooks/exam.tsx"),
  "/developers/events": () => import("./pages/developers/events.tsx"),
  "/developers/events/$id": () => import("./pages/developers/events/id.tsx"),
  "/developers/requests": () => import("./pages/developers/requests.tsx"),
  "/developers/requests/$request_id": () => import("./pages/developers/requests/request-id.tsx"),
  "/developers/idempotency": () => import("./pages/developers/idempotency.tsx"),
  "/developers/idempotency/$key": () => import("./pages/developers/idempotency/key.tsx"),
  "/sandbox/clock": () => import("./pages/sandbox/clock.tsx"),
  "/sandbox/qris": () => import("./pages/sandbox/qris.tsx"),
  "/sandbox/create": () => import("./pages/sandbox/create.tsx"),
  "/settings": () => import("./pages/settings.tsx"),
  "/settings/team": () => import("./pages/settings/team.tsx"),
  "/settings/branding": () => import("./pages/settings/branding.tsx"),
  "/settings/payers": () => import("./pages/settings/payers.tsx"),
  "/settings/audit": () => import("./pages/settings/audit.tsx"),
};
