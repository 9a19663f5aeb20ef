import { readFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'

/**
 * The second is systemd-resolved's list of upstream servers, for machines where the first names only its loopback
 * address.
 */
const FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'] as const
const MOST = 3

export interface NameService {
  /** Addresses that a room can query: IPv4, and not on the loopback. */
  readonly servers: readonly string[]
  /** Lines of resolv.conf(5) that set how names are resolved. */
  readonly others: readonly string[]
}

/** How this machine resolves names, as far as a room can do the same. */
export async function nameService(files: readonly string[] = FILES): Promise<NameService> {
  for (const file of files) {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').map((line) => line.trim().split(/\s+/))
    const servers = lines
      .filter(([word]) => word === 'nameserver')
      .map(([, address = '']) => address)
      .filter((address) => isIPv4(address) && !address.startsWith('127.') && address !== '0.0.0.0')
    const others = lines
      .filter(([word = '']) => ['search', 'domain', 'options'].includes(word))
      .map((each) => each.join(' '))
    if (servers.length > 0) return { servers: servers.slice(0, MOST), others }
  }
  return { servers: [], others: [] }
}

export const resolvConf = ({ servers, others }: NameService): string =>
  [...servers.map((address) => `nameserver ${address}`), ...others, ''].join('\n')

/** Includes the names that the operator lists, because the machine may resolve them from its own hosts file. */
export const hostsFile = (names: ReadonlyMap<string, readonly string[]>, hostname: string): string =>
  [
    `127.0.0.1 localhost ${hostname}`,
    `::1 localhost ${hostname}`,
    ...[...names].flatMap(([name, addresses]) => addresses.map((address) => `${address} ${name}`)),
    '',
  ].join('\n')
