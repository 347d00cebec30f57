// The two forms of this package's manifest. In the repository its entries are the TypeScript sources, which Node runs
// through the workspace link; in the packed package they are JavaScript and declarations, because Node strips no types
// below node_modules. Each form can be derived from the other, so an interrupted pack can always be undone.

type Target = string | { readonly types: string; readonly default: string };

export interface Manifest {
  readonly exports: Readonly<Record<string, Target>>;
  readonly [field: string]: unknown;
}

export const packedManifest = (manifest: Manifest): Manifest => withTargets(manifest, packedTarget);
export const sourceManifest = (manifest: Manifest): Manifest => withTargets(manifest, sourceTarget);

function withTargets(manifest: Manifest, targetOf: (target: Target) => Target): Manifest {
  const entries = Object.entries(manifest.exports).map(([name, target]) => [name, targetOf(target)] as const);
  return { ...manifest, exports: Object.fromEntries(entries) };
}

function packedTarget(target: Target): Target {
  const module = typeof target === "string" ? /^\.\/src\/(.*)\.ts$/.exec(target)?.[1] : undefined;
  return module === undefined ? target : { types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` };
}

function sourceTarget(target: Target): Target {
  const module = typeof target === "string" ? undefined : /^\.\/dist\/(.*)\.js$/.exec(target.default)?.[1];
  return module === undefined ? target : `./src/${module}.ts`;
}
