import { expect, test } from "vitest";
import { renderStackedBars } from "./stacked-bars.ts";

const widthsOf = (svg: string): readonly number[] =>
  [...svg.matchAll(/height="34"/g)].map(({ index }) => Number(/width="([\d.]+)"[^<]*$/.exec(svg.slice(0, index))?.[1]));

test("the longest bar fills the width, and every part has its share of it", () => {
  const svg = renderStackedBars("wake & create", [
    {
      name: "wake",
      parts: [
        { moment: "process", ms: 500 },
        { moment: "started", ms: 1_500 },
      ],
    },
    { name: "create", parts: [{ moment: "process", ms: 1_000 }] },
  ]);
  const [first = 0, second = 0, third = 0] = widthsOf(svg);
  expect(first + second).toBeCloseTo(740, 0);
  expect(second).toBeCloseTo(3 * first, 0);
  expect(third).toBeCloseTo(2 * first, 0);
  expect(svg).toContain("wake &amp; create");
  expect(svg).toContain("wake: 2.00 s, of which kubelet: volumes, sandbox, container 0.50 s");
});

test("the legend names what is drawn and nothing else", () => {
  const svg = renderStackedBars("t", [{ name: "a", parts: [{ moment: "listening", ms: 10 }] }]);
  const legend = svg.slice(svg.indexOf("</style>"));
  expect(legend).toContain(">engine: start of the program</text>");
  expect(legend).not.toContain(">scheduler</text>");
});
