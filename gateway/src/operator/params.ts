// Path parameters of the operator API.
import { z } from "zod";
import { exampleClientId } from "../http/examples.ts";
import { environmentField, inPath, parameterNames } from "../http/shapes.ts";

export const word = (name: string, description: string, pattern: string, example: string) =>
  z
    .string()
    .meta({ description, pattern, examples: [example] })
    .register(parameterNames, { name });

export const merchantParams = { id: inPath("merchant", "MerchantId", "`merchant_id` of the merchant.") };

export const bookParams = {
  ...merchantParams,
  environment: environmentField
    .meta({ description: "Which of the merchant's two books." })
    .register(parameterNames, { name: "BookEnvironment" }),
};

export const acquirerParams = {
  gateway_code: word("GatewayCode", "`gateway_code` of the acquirer.", "^[a-z_]{1,30}$", "nusantara"),
};

export const CLIENT_ID_PATTERN = "^ak_(test|live)_[0-9a-z]{20,60}$";

export const credentialParams = {
  ...merchantParams,
  client_id: word("ClientId", "`client_id` of the credential.", CLIENT_ID_PATTERN, exampleClientId),
};

export const receiptParams = { uuid: inPath("receipt", "ReceiptUuid", "`uuid` of the receipt.") };

export const exceptionParams = { uuid: inPath("exception", "ExceptionUuid", "`uuid` of the exception.") };

export const VERSION_PATTERN = "^[1-9]\\d{0,8}$";

export const versionParams = {
  version: word("RulesVersion", "Number of the version.", VERSION_PATTERN, "3"),
};

export const fileNumber = z.string().meta({
  description: "`number` of the file in the evidence.",
  pattern: "^\\d+$",
  examples: ["1"],
});
