// Goal: what is told of a payment at its acquirer is what the records say, and its link is safe to click. Method: the pure view over
// operations in each step, dashboards of any address, and lists at their bound.
import { expect, test } from "vitest";
import { anOperation } from "../../test/acquiring.ts";
import { NOW } from "../../test/given.ts";
import { anAcquirer } from "../../test/routing.ts";
import { operationKey, operationSteps } from "../acquiring/operation.ts";
import type { ReadMessage } from "../acquiring/messages.sql.ts";
import { newId } from "../ground/ids.ts";
import { atAcquirerSchema } from "./at-acquirer.schema.ts";
import { atAcquirerView } from "./at-acquirer.ts";

const reference = newId("payment", NOW);
const payment = { reference, gatewayCode: "kawah" };
const said: ReadMessage = {
  operationId: reference,
  operationKind: "payment",
  gatewayCode: "kawah",
  attempt: 1,
  call: "open",
  about: "POST /charge",
  status: undefined,
  text: "< no answer",
  exchangedAt: NOW,
};
const dashboard = (url: string | undefined) => (code: string) =>
  code === "kawah" ? anAcquirer("kawah", { name: "Kawah", dashboardUrl: () => url }) : undefined;
const nobody = dashboard(undefined);

test.each(operationSteps)(
  "an operation that is %s has an operation key and a dashboard once its call was made",
  (step) => {
    const operation = anOperation(reference, { step, providerIds: { charge: "ch-1" } });
    const told = atAcquirerView(dashboard("https://kawah.example/ch-1"), payment, [operation], []);
    const isCalled = step !== "planned" && step !== "retryable";
    expect(atAcquirerSchema.parse(told).operations).toMatchObject([
      {
        object: reference,
        step,
        provider_ids: { charge: "ch-1" },
        operation_key: isCalled ? operationKey(operation) : null,
        dashboard_url: isCalled ? "https://kawah.example/ch-1" : null,
      },
    ]);
  },
);

test.each([
  ["https://kawah.example/charges?id=ch-1", true],
  ["http://kawah.example/ch-1", false],
  ["javascript:alert(1)", false],
  ["data:text/html,x", false],
  ["//kawah.example", false],
  ["", false],
])("the dashboard %o is linked: %s", (url, isLinked) => {
  const { operations } = atAcquirerView(dashboard(url), payment, [anOperation(reference)], []);
  expect(operations[0]?.dashboard_url).toBe(isLinked ? url : null);
});

test("a dashboard is asked with the ids of its operation, and each refund has its own", () => {
  const refund = newId("refund", NOW);
  const acquirer = () => anAcquirer("kawah", { dashboardUrl: ({ id }) => id && `https://kawah.example/${id}` });
  const operations = [
    anOperation(reference, { providerIds: { id: "a" } }),
    anOperation(refund, { kind: "refund", paymentReference: reference, providerIds: { id: "b" } }),
    anOperation(newId("refund", NOW), { kind: "refund", paymentReference: reference }),
  ];
  const told = atAcquirerView(acquirer, payment, operations, []);
  expect(told.operations.map(({ dashboard_url: url }) => url)).toEqual([
    "https://kawah.example/a",
    "https://kawah.example/b",
    null,
  ]);
  expect(told.operations.map(({ provider_ids: ids }) => ids)).toEqual([{ id: "a" }, { id: "b" }, {}]);
});

test("an acquirer that is no longer configured leaves its code and its messages", () => {
  const told = atAcquirerView(
    nobody,
    { reference, gatewayCode: "lawu" },
    [anOperation(reference, { gatewayCode: "lawu" })],
    [said],
  );
  expect(atAcquirerSchema.parse(told)).toMatchObject({ gateway_code: "lawu", acquirer_name: null });
  expect(told.operations).toMatchObject([{ gateway_code: "lawu", dashboard_url: null }]);
  expect(told.messages).toMatchObject([{ object: reference, status: null, text: "< no answer" }]);
});

test("a payment that nobody took says so", () => {
  const told = atAcquirerView(nobody, { reference, gatewayCode: undefined }, [], []);
  expect(atAcquirerSchema.parse(told)).toEqual({
    reference,
    gateway_code: null,
    acquirer_name: null,
    operations: [],
    messages: [],
    is_cut: false,
  });
});

test.each([
  [100, 100, false],
  [100, 101, true],
  [101, 100, true],
])("of %i operations and %i messages a hundred are told; cut: %s", (operationCount, wordCount, isCut) => {
  const told = atAcquirerView(
    nobody,
    payment,
    Array.from({ length: operationCount }, () => anOperation(reference)),
    Array.from({ length: wordCount }, () => said),
  );
  expect([told.operations.length, told.messages.length, told.is_cut]).toEqual([100, 100, isCut]);
});
