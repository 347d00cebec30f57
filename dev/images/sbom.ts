// The list of what an image is made of, as SPDX 2.3 in JSON. A pure function of its input.
import type { BundledPackage } from "./bundled-packages.ts";
import type { SystemPackage } from "./shared-libraries.ts";

export interface SbomInput {
  readonly version: string;
  /** SHA-256 of the bundled program: makes the document's name unique. */
  readonly programSha256: string;
  readonly createdSeconds: number;
  readonly nodeVersion: string;
  readonly bundled: readonly BundledPackage[];
  readonly system: readonly SystemPackage[];
}

const ROOT_ID = "SPDXRef-Package-firebolt-operator";

/** Licences of the few system packages an image can hold; Debian does not record them as expressions. */
const SYSTEM_LICENSES: readonly (readonly [RegExp, string])[] = [
  [/^libc6$/, "LGPL-2.1-or-later"],
  [/^lib(stdc\+\+6|gcc-s1)$/, "GPL-3.0-or-later WITH GCC-exception-3.1"],
];

export function renderSbom(input: SbomInput): object {
  const { version, programSha256, createdSeconds, nodeVersion, bundled, system } = input;
  const packages = [
    pack({
      id: ROOT_ID,
      name: "firebolt-operator",
      version,
      license: "Apache-2.0",
      purl: `pkg:npm/firebolt-operator@${version}`,
    }),
    ...bundled.map((one) =>
      pack({
        id: idOf("npm", one.name),
        name: one.name,
        version: one.version,
        license: one.license,
        purl: `pkg:npm/${one.name.replace("@", "%40")}@${one.version}`,
        // The package URL and the checksum identify it; a lock file names packages, not one machine's registry.
        location: one.resolved,
        sha512: one.sha512,
      }),
    ),
    pack({
      id: idOf("runtime", "node"),
      name: "node",
      version: nodeVersion,
      license: "MIT",
      purl: `pkg:generic/node@${nodeVersion}`,
      location: `https://nodejs.org/dist/v${nodeVersion}/`,
    }),
    ...system.map(({ name, version: installed }) =>
      pack({
        id: idOf("deb", name),
        name,
        version: installed,
        license: SYSTEM_LICENSES.find(([pattern]) => pattern.test(name))?.[1] ?? "NOASSERTION",
        purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(installed)}`,
      }),
    ),
  ];
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `firebolt-operator-${version}`,
    documentNamespace: `https://spdx.org/spdxdocs/firebolt-operator-${version}-${programSha256}`,
    creationInfo: {
      created: new Date(createdSeconds * 1000).toISOString().replace(/\.\d+Z$/, "Z"),
      creators: [`Tool: firebolt-operator-image-${version}`],
    },
    packages,
    relationships: [
      { spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: ROOT_ID },
      ...packages.slice(1).map(({ SPDXID }) => ({
        spdxElementId: ROOT_ID,
        relationshipType: "CONTAINS",
        relatedSpdxElement: SPDXID,
      })),
    ],
  };
}

interface PackageInput {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly purl: string;
  readonly location?: string | undefined;
  readonly sha512?: string | undefined;
}

function pack({ id, name, version, license, purl, location = "NOASSERTION", sha512 }: PackageInput) {
  return {
    SPDXID: id,
    name,
    versionInfo: version,
    downloadLocation: location,
    filesAnalyzed: false,
    licenseConcluded: license,
    licenseDeclared: license,
    copyrightText: "NOASSERTION",
    externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }],
    ...(sha512 === undefined ? {} : { checksums: [{ algorithm: "SHA512", checksumValue: sha512 }] }),
  };
}

const idOf = (source: string, name: string): string =>
  `SPDXRef-Package-${source}-${name.replace(/[^a-zA-Z0-9.-]+/g, "-")}`;
