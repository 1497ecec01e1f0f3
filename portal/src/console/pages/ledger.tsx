// The ledger of a merchant's book: the total of every account in every currency, the end of its chain, and whether it is clean.
import { useQuery } from "@tanstack/react-query";
import { Answer } from "../../ui/answer.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { read } from "../api/client.ts";
import { at } from "../paths.ts";
import { BookSwitch, useBook, useMerchantName } from "./merchants/book.tsx";
import { Export } from "./ledger/export.tsx";
import { Totals } from "./ledger/totals.tsx";
import { Verify } from "./ledger/verify.tsx";

export function Page() {
  const here = useBook();
  const { id, environment } = here;
  const name = useMerchantName(id);
  const book = useQuery(read("/v1/merchants/{id}/books/{environment}", { path: { id, environment } }));
  return (
    <Frame
      title="Ledger"
      above={{ to: at.merchant(id), label: name }}
      lead={`Every account of ${name}'s ${environment} book. A balance is debits minus credits; in each currency they sum to zero.`}
      actions={<BookSwitch of={here} to={at.ledger} />}
      curl={{ path: `/v1/merchants/${id}/books/${environment}` }}
    >
      <Answer of={book}>
        {(book) => (
          <>
            {book.currencies.length === 0 && (
              <Empty title="Nothing is in this book yet">Its first payment creates its first journal.</Empty>
            )}
            {book.currencies.map((totals) => (
              <Section key={totals.currency} title={totals.currency}>
                <Totals of={totals} id={id} environment={environment} />
              </Section>
            ))}
            <Verify key={`${id} ${environment}`} of={book} />
            <Export journals={book.journals} />
          </>
        )}
      </Answer>
    </Frame>
  );
}
