// New payment: for who takes an order by hand.
import { CreatePayment } from "./new/page.tsx";

export function Page() {
  return (
    <CreatePayment
      title="New payment"
      lead="Ask a payer for money by hand, or see how your system does it through the API."
    />
  );
}
