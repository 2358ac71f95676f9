import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { connectTemporal } from '../../api/temporal.js';
import { parseConfig } from '../../schemas/config/config.js';
import {
  backupWorkflowId,
  importWorkflowId,
  migrationWorkflowId,
  swapWorkflowId,
} from '../../schemas/ids.js';

const prefix = `steered-${process.pid}-${randomBytes(4).toString('hex')}-`;
const startedBy = '1';

const MIGRATION = { runId: 'run', name: 'records', mode: 'run', unit: 'records', startedBy } as const;
const IMPORT = { runId: 'run', sourceId: 'old', dryRun: false, requestsPerSecond: 20, startedBy };
const SWAP = {
  swap_id: 'swap',
  partition: 'library',
  partition_key: 'key',
  source_embedder: 'old',
  target_embedder: 'new',
  min_overlap: null,
  min_known_item: null,
  started_by: startedBy,
};

/** No worker takes them: what the gateway asked of Temporal stands in their histories. */
describe('what the gateway says to a run', () => {
  let connection: Connection;
  let client: Client;
  let gateway: ReturnType<typeof connectTemporal>;

  beforeAll(async () => {
    const address = process.env['TEMPORAL_ADDRESS']!;
    connection = await Connection.connect({ address });
    client = new Client({ connection });
    gateway = connectTemporal(
      parseConfig({
        TASK_QUEUE_PREFIX: prefix,
        TEMPORAL_ADDRESS: address,
        AUTH_TOKEN: randomBytes(16).toString('hex'),
      }),
    );
  });

  afterAll(async () => {
    await gateway.close();
    await connection.close();
  });

  /** The words and the cancel that a run was told, in their order; it is ended then. */
  async function toldTo(workflowId: string): Promise<string[]> {
    const run = client.workflow.getHandle(workflowId);
    const { events } = await run.fetchHistory();
    await run.terminate('ended by its test');
    return (events ?? []).flatMap((event) => {
      const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
      const isCancel = event.workflowExecutionCancelRequestedEventAttributes != null;
      return signal ?? (isCancel ? 'cancel' : []);
    });
  }

  it('comes to an import', async () => {
    await gateway.startImport(IMPORT);
    await expect(gateway.startImport(IMPORT)).rejects.toMatchObject({ code: 'IMPORT_RUNNING' });
    await gateway.pauseImport('old');
    await gateway.resumeImport('old');
    await gateway.cancelImport('old');
    expect(await toldTo(importWorkflowId(prefix, 'old'))).toEqual(['pause', 'resume', 'cancel']);
    for (const steer of [gateway.pauseImport, gateway.resumeImport, gateway.cancelImport])
      await expect(steer('old')).rejects.toMatchObject({ code: 'IMPORT_NOT_RUNNING' });
  });

  it('comes to a migration', async () => {
    const run = { ...MIGRATION, pagesPerSecond: null };
    await gateway.startMigration(run);
    await expect(gateway.startMigration(run)).rejects.toMatchObject({ code: 'MIGRATION_RUNNING' });
    await gateway.pauseMigration('records');
    await gateway.paceMigration('records', 3);
    await gateway.resumeMigration('records');
    await gateway.cancelMigration('records');
    const told = await toldTo(migrationWorkflowId(prefix, 'records'));
    expect(told).toEqual(['pause', 'pace', 'resume', 'cancel']);
    await expect(gateway.cancelMigration('records')).rejects.toMatchObject({ code: 'MIGRATION_NOT_RUNNING' });
  });

  it('comes to a backup and to a restore', async () => {
    const backup = { runId: 'run', startedBy, vectors: true };
    const restore = { runId: 'run', startedBy, backupId: 'a-backup', replace: false };
    for (const start of [() => gateway.startBackup(backup), () => gateway.startRestore(restore)]) {
      await start();
      await expect(gateway.startBackup(backup)).rejects.toMatchObject({ code: 'BACKUP_RUNNING' });
      await gateway.cancelBackup();
      expect(await toldTo(backupWorkflowId(prefix))).toEqual(['cancel']);
      await expect(gateway.cancelBackup()).rejects.toMatchObject({ code: 'BACKUP_NOT_RUNNING' });
    }
  });

  it('comes to a change of embedder', async () => {
    await gateway.startSwap(SWAP);
    await expect(gateway.startSwap(SWAP)).rejects.toMatchObject({ code: 'EMBEDDER_SWAP_IN_PROGRESS' });
    expect(await gateway.cancelSwap('key')).toBe(true);
    expect(await toldTo(swapWorkflowId(prefix, 'key'))).toEqual(['cancel']);
    expect(await gateway.cancelSwap('key')).toBe(false);
  });
});
