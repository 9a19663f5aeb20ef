import { byService } from '../behaviour.ts'
import { needText } from './probe/needs.ts'
import { BEHAVIOURS, type ReapiBehaviour } from './table/behaviours.ts'

/** The reference page of the suite, generated from the table of behaviours. */
export function docsPage(): string {
  const musts = BEHAVIOURS.filter(({ level }) => level === 'must').length
  return `${[
    '# What `windlass check reapi` checks',
    '',
    `The suite checks ${BEHAVIOURS.length} behaviours of a Remote Execution API v2 server. A server must have ${musts} of them,`,
    `because the specification requires them. It should have the other ${BEHAVIOURS.length - musts}, because the specification`,
    'recommends them or real clients depend on them. A behaviour is *not offered*, neither passed nor failed, if it',
    'requires a later API version than the server supports, or a feature that the server does not advertise.',
    '',
    '[The guide](../guide/check-reapi.md) describes how to run the suite. This page is generated from the table in',
    '`src/check/reapi/table/`; `npx vitest run src/check/reapi -u` updates it.',
    ...[...byService(BEHAVIOURS, ({ service }) => service)].flatMap(([service, rows]) => section(service, rows)),
  ].join('\n')}\n`
}

const section = (service: string, rows: readonly ReapiBehaviour[]): string[] => [
  '',
  `## ${service}`,
  '',
  '| id | behaviour | level | since | needs |',
  '|---|---|---|---|---|',
  ...rows.map(
    ({ id, sentence, note, level, since, needs }) =>
      `| \`${id}\` | ${sentence}${note === undefined ? '' : ` *${note}*`} | ${level} | ${since} | ${needs.map(needText).join(', ')} |`,
  ),
]
