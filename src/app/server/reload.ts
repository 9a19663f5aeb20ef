import { type Config, FIELDS } from '../config/config.ts'
import { isTable, pickFields, place, type Table } from '../config/table.ts'
import { readTlsFiles, type TlsMaterial } from '../process/tls-files.ts'
import type { ReloadUpstreamTls } from './storage-upstream.ts'

/** The changes of a reload. */
export interface ReloadReport {
  /** Keys of settings that took effect. */
  readonly applied: readonly string[]
  /** Keys of settings that differ from the effective ones, and take effect at the next start. */
  readonly needRestart: readonly string[]
  /** Files of certificates and keys that were read again. */
  readonly files: readonly string[]
}

/** The components of a running server that accept new settings. */
export interface ReloadTarget {
  /** Undefined without an upstream. */
  readonly reloadUpstreamTls: ReloadUpstreamTls | undefined
  setTls(tls: TlsMaterial): void
  /** The settings that are effective from now on. */
  setConfig(config: Config): void
}

const TLS_KEYS = ['server.tls.cert_file', 'server.tls.key_file', 'server.tls.client_ca_file'] as const

/**
 * Applies new settings to a running server. All steps that can fail come first, so that an error in the new settings
 * changes nothing.
 */
export function reloader(started: Config, target: ReloadTarget): (next: Config) => ReloadReport {
  let inForce = started
  return (next) => {
    const tls = readTlsFiles(next.server.tls)
    const upstream = target.reloadUpstreamTls?.(next.storage.upstream.tls)
    const isSameKind = tlsKind(inForce) === tlsKind(next)
    const changed = FIELDS.filter(({ key }) => !isSame(pickFields(inForce, key), pickFields(next, key)))
    const takes = ({ key, reloads }: (typeof FIELDS)[number]): boolean =>
      reloads === true && (isSameKind || !TLS_KEYS.some((each) => each === key))
    const applied = changed.filter(takes).map(({ key }) => key)
    inForce = withValues(inForce, next, applied)
    if (tls !== undefined && isSameKind) target.setTls(tls)
    upstream?.apply()
    target.setConfig(inForce)
    const ownFiles = tls === undefined || !isSameKind ? [] : TLS_KEYS.flatMap((key) => fileAt(next, key))
    return {
      applied,
      needRestart: changed.filter((field) => !takes(field)).map(({ key }) => key),
      files: [...ownFiles, ...(upstream?.files ?? [])],
    }
  }
}

/** A listener has a fixed kind of TLS: none, server only, or mutual. */
const tlsKind = ({ server: { tls } }: Config): string =>
  tls.cert_file === undefined ? 'none' : tls.client_ca_file === undefined ? 'server' : 'mutual'

const fileAt = (config: Config, key: string): string[] => {
  const path = pickFields(config, key)
  return typeof path === 'string' ? [path] : []
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))

const sorted = (value: unknown): unknown => (isTable(value) ? Object.entries(value).sort() : value)

function withValues(config: Config, next: Config, keys: readonly string[]): Config {
  const copy: Table = structuredClone(config)
  for (const key of keys) place(copy, key, pickFields(next, key))
  return copy as Config
}
