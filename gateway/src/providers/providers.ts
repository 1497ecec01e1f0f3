// The providers with a built-in connector: a folder and a line each.
import { midtrans } from "./midtrans/midtrans.ts";
import type { Provider } from "./profile.ts";
import { snap } from "./snap/snap.ts";
import { stripe } from "./stripe/stripe.ts";
import { xendit } from "./xendit/xendit.ts";

export const providers: readonly Provider[] = [midtrans, snap, stripe, xendit];
