import { execFileSync } from 'node:child_process'

const SUBJECT = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1']
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** A self-signed certificate for this machine, valid for a day. Needs `openssl`. */
export function selfSigned(): { readonly cert: string; readonly key: string } {
  const made = execFileSync(
    'openssl',
    ['req', '-x509', '-days', '1', ...KEY, ...SUBJECT, '-keyout', '-', '-out', '-'],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const start = made.indexOf('-----BEGIN CERTIFICATE-----')
  return { key: made.slice(0, start), cert: made.slice(start) }
}
