// Sending the merchant's own events again, by its session.
import { useApi } from "../../../api/place.ts";
import { ResendSince } from "./resend-since.tsx";

export function ResendOwn() {
  const api = useApi();
  return <ResendSince send={(body, intent) => api.write("POST", "/v1/events/resend", { body }, intent)} />;
}
