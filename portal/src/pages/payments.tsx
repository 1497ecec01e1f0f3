// Payments: this page is still to be written.
import { Page as Frame } from "../ui/page.tsx";

export function Page() {
  return <Frame title="Payments">{null}</Frame>;
}
