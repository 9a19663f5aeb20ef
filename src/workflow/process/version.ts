/** Versions of CWL as comparable numbers: v1.2 is 12. */
export type Version = 10 | 11 | 12 | 13

export const VERSIONS: Readonly<Record<string, Version>> = {
  'v1.0': 10,
  'v1.1': 11,
  'v1.1.0-dev1': 11,
  'v1.2': 12,
  'v1.2.0-dev1': 12,
  'v1.2.0-dev2': 12,
  'v1.2.0-dev3': 12,
  'v1.2.0-dev4': 12,
  'v1.2.0-dev5': 12,
  'v1.3': 13,
  'v1.3.0-dev1': 13,
}

export const versionText = (version: Version): string => `v${Math.floor(version / 10)}.${version % 10}`
