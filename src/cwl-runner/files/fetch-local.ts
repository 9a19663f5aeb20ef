import { readFile } from 'node:fs/promises'
import { invalid } from '../../base/fault.ts'
import type { Fetch } from '../../workflow/loading/fetch.ts'
import { pathOfAddress } from './file-address.ts'

/**
 * Reads documents of this machine. Nothing is fetched over the network: an ontology with an http address must not cause
 * a delay.
 */
export const fetchLocal: Fetch = async (uri) => {
  const path = pathOfAddress(uri)
  if (path === undefined) throw invalid('it is not a file of this machine')
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw invalid(code === 'ENOENT' ? 'there is no such file' : (code ?? 'it is no text'))
  }
}
