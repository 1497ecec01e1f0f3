// The providers that the service speaks to itself: a folder and a line each.
import type { Provider } from "./profile.ts";
import { xenditProvider } from "./xendit/xendit.ts";

export const providers: readonly Provider[] = [xenditProvider];
