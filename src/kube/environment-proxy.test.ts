// When the environment's proxy applies.
import { expect, test } from "vitest";
import { proxyFromEnvironment } from "./environment-proxy.ts";

test.each([
  { server: "https://api.corp:6443", env: { HTTPS_PROXY: "http://p:1" }, want: "http://p:1" },
  { server: "https://api.corp", env: { https_proxy: "p:1" }, want: "http://p:1" },
  { server: "http://api.corp", env: { HTTPS_PROXY: "http://p:1" }, want: undefined },
  { server: "https://127.0.0.1:6443", env: { HTTPS_PROXY: "http://p:1" }, want: undefined },
  { server: "https://10.0.0.1", env: { HTTPS_PROXY: "http://p:1", NO_PROXY: "10.0.0.0/8" }, want: undefined },
  { server: "https://11.0.0.1", env: { HTTPS_PROXY: "http://p:1", NO_PROXY: "10.0.0.0/8" }, want: "http://p:1" },
  { server: "https://[fd00::1]", env: { HTTPS_PROXY: "http://p:1", NO_PROXY: "fd00::/8" }, want: undefined },
  { server: "https://a.corp", env: { HTTPS_PROXY: "http://p:1", NO_PROXY: "x, corp" }, want: undefined },
  { server: "https://a.corp", env: { HTTPS_PROXY: "http://p:1", NO_PROXY: ".corp" }, want: undefined },
  { server: "https://corp", env: { HTTPS_PROXY: "http://p:1", NO_PROXY: "*.corp" }, want: "http://p:1" },
  { server: "https://acorp", env: { HTTPS_PROXY: "http://p:1", NO_PROXY: "corp" }, want: "http://p:1" },
  { server: "https://a.corp:6443", env: { HTTPS_PROXY: "http://p:1", NO_PROXY: "a.corp:443" }, want: "http://p:1" },
  { server: "https://a.corp", env: { HTTPS_PROXY: "http://p:1", NO_PROXY: "*" }, want: undefined },
  { server: "https://a.corp", env: { HTTPS_PROXY: "http://p:1", NO_PROXY: "10.0.0.0/99,bad/8" }, want: "http://p:1" },
])("$server with $env uses $want", ({ server, env, want }) => {
  expect(proxyFromEnvironment(server, env)).toBe(want);
});
