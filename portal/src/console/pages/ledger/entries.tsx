// The entries behind a total of a book: each with the balance after it, newest first.
import { useQuery } from "@tanstack/react-query";
import { usePart, useQueryText } from "../../../address.ts";
import { Answer } from "../../../ui/answer.tsx";
import { ButtonLink } from "../../../ui/button.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { useCursor, useList } from "../../../ui/list.ts";
import { Page as Frame } from "../../../ui/page.tsx";
import { Table } from "../../../ui/table.tsx";
import { type Schema, read } from "../../api/client.ts";
import { at } from "../../paths.ts";
import { useBook } from "../merchants/book.tsx";
import { entryColumns } from "./columns.tsx";

const FIRST_ACCOUNT = "merchant:available";

export function Page() {
  const { id, environment } = useBook();
  const currency = usePart("currency");
  const { account = FIRST_ACCOUNT } = useQueryText();
  const book = useQuery(read("/v1/merchants/{id}/books/{environment}", { path: { id, environment } }));
  const address = `/v1/merchants/${id}/books/${environment}/balances/${encodeURIComponent(currency)}/entries`;
  return (
    <Frame
      title={`${account} in ${currency}`}
      above={{ to: at.ledger(id, environment), label: `Ledger of ${environment}` }}
      lead="Every entry of the account, newest first, with the balance after it. Debits are positive."
      actions={<ButtonLink to={at.statement(id, environment, currency, account)}>Statement of a period</ButtonLink>}
      curl={{ path: `${address}?account=${encodeURIComponent(account)}` }}
    >
      <Answer of={book}>{(book) => <Entries of={book} currency={currency} account={account} />}</Answer>
    </Frame>
  );
}

function Entries({ of: book, currency, account }: { of: Schema<"Book">; currency: string; account: string }) {
  const { id, environment } = useBook();
  const cursor = useCursor();
  const path = { id, environment, currency };
  const list = useList(
    read("/v1/merchants/{id}/books/{environment}/balances/{currency}/entries", {
      path,
      query: { account, ...cursor.query },
    }),
  );
  const exponent = book.currencies.find((totals) => totals.currency === currency)?.exponent ?? 2;
  return (
    <Table
      label="Entries"
      list={list}
      cursor={cursor}
      columns={entryColumns(currency, exponent)}
      id={(entry) => entry.id}
      empty={<Empty title="No entries yet">A total is the sum of its entries. This one has none.</Empty>}
    />
  );
}
