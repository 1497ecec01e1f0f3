// Merchants: who takes payments here, found by name.
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { ShortId } from "../../ui/copy.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Filters, text, useFilters } from "../../ui/filters.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Page as Frame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { type Schema, read } from "../api/client.ts";
import { useMay } from "../api/rights.ts";
import { at } from "../paths.ts";
import { MakeMerchant } from "./merchants/make.tsx";

type Merchant = Schema<"Merchant">;

const spec = { name: text("Name", "melati") };

const columns: Column<Merchant>[] = [
  {
    head: "Name",
    cell: ({ name }) => (
      <span title={name} className="inline-block max-w-48 truncate roomy:max-w-64 ample:max-w-80">
        {name}
      </span>
    ),
  },
  { head: "State", cell: (merchant) => <MerchantState of={merchant} /> },
  { head: "Currencies", from: "wide", cell: ({ currencies }) => currencies.join(", ") },
  {
    head: "Methods",
    from: "full",
    cell: ({ methods }) =>
      Object.entries(methods)
        .filter(([, { enabled }]) => enabled)
        .map(([name]) => name.replaceAll("_", " "))
        .join(", "),
  },
  { head: "Identity", align: "right", from: "wide", cell: ({ merchant_id: id }) => <ShortId id={id} /> },
];

export function Page() {
  const isAdmin = useMay()("admin");
  const filters = useFilters(spec);
  const cursor = useCursor();
  const list = useList(read("/v1/merchants", { query: { ...filters.value, ...cursor.query } }));
  const [making, setMaking] = useState(false);
  const make = isAdmin && (
    <Button look="primary" onClick={() => setMaking(true)}>
      Make a merchant
    </Button>
  );
  const { name } = filters.value;
  return (
    <Frame
      title="Merchants"
      lead="Who takes payments through this gateway, newest first."
      curl={{ path: name === undefined ? "/v1/merchants" : `/v1/merchants?name=${encodeURIComponent(name)}` }}
      actions={make}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Merchants"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(merchant) => merchant.merchant_id}
          to={(merchant) => at.merchant(merchant.merchant_id)}
          empty={
            filters.isSet ? (
              <Empty title="No merchant has that name">Change the name, or clear it.</Empty>
            ) : (
              <Empty
                title="No merchants yet"
                action={make}
                curl={{ method: "POST", path: "/v1/merchants", body: { name: "Toko Melati" } }}
              >
                Each merchant has its own sandbox and production books, keys, prices and team.
              </Empty>
            )
          }
        />
      </div>
      {making && <MakeMerchant close={() => setMaking(false)} />}
    </Frame>
  );
}

export function MerchantState({ of: { suspended } }: { of: Pick<Merchant, "suspended"> }) {
  return <Status status={suspended ? "suspended" : "active"} tone={suspended ? "bad" : "good"} />;
}
