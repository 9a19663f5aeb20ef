import { readFileSync } from 'node:fs'

/** Read from package.json, which has the same relative path in a clone and in the package. */
export function version(): string {
  const about: { version: string } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  return about.version
}
