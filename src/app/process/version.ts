import { readFileSync } from 'node:fs'

/** From package.json, which is two folders up in a clone as in the package. */
export function version(): string {
  const about: { version: string } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  return about.version
}
