import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { join } from 'node:path'

/** A package that browsers load as one module, under its own name. */
export interface BrowserPackage {
  readonly name: string
  /** The path of the module on this disk. */
  readonly file: string
}

interface Manifest {
  readonly exports?: { readonly import?: unknown }
  readonly dependencies?: Readonly<Record<string, string>>
}

/** The named packages and their dependencies, wherever the package manager installed them. */
export function browserPackages(names: readonly string[], from: string): readonly BrowserPackage[] {
  const found = new Map<string, BrowserPackage>()
  const visit = (name: string, base: string): void => {
    if (found.has(name)) return
    const about = findPackageJSON(name, base)
    if (about === undefined) throw new Error(`the package ${name} is not installed`)
    const { exports, dependencies = {} } = JSON.parse(readFileSync(about, 'utf8')) as Manifest
    if (typeof exports?.import !== 'string') throw new Error(`the package ${name} is not one module`)
    found.set(name, { name, file: join(about, '..', exports.import) })
    for (const dependency of Object.keys(dependencies)) visit(dependency, about)
  }
  for (const name of names) visit(name, from)
  return [...found.values()]
}
