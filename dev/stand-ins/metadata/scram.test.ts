import { expect, test } from "vitest";
import { clientFinal, clientFirst } from "./scram.ts";

// The exchange that RFC 7677 prints.
const exchange = {
  password: "pencil",
  nonce: "rOprNGfwEbeRWgbNEkqO",
  bare: "n=user,r=rOprNGfwEbeRWgbNEkqO",
  serverFirst: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
};

test("the published exchange comes out", () => {
  const final = clientFinal(exchange);
  expect(final.message).toBe(
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
  );
  expect(final.verify("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")).toBe(true);
});

test("a server without the password is found out", () => {
  expect(clientFinal(exchange).verify("v=AAAATRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")).toBe(false);
  expect(() => clientFinal({ ...exchange, nonce: "other" })).toThrow(/another client/);
});

test("the first message holds the nonce", () => {
  expect(clientFirst("abc")).toEqual({ message: "n,,n=,r=abc", bare: "n=,r=abc" });
});
