import type { Page } from 'playwright-core';

export interface DroppedFile {
  name: string;
  content: string;
}

/** As a hand lets go of files over the page's area for them. */
export async function dropFiles(page: Page, files: readonly DroppedFile[]): Promise<void> {
  const transfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    for (const { name, content } of ${JSON.stringify(files)})
      transfer.items.add(new File([content], name, { type: 'text/markdown' }));
    return transfer;
  })()`);
  const area = page.getByRole('button', { name: 'Drop files or folders here' });
  for (const event of ['dragenter', 'dragover', 'drop'])
    await area.dispatchEvent(event, { dataTransfer: transfer });
}

/** The same with a folder of the machine and what is in it; a script cannot make one, the browser's own tools can. */
export async function dropFolder(page: Page, folder: string): Promise<void> {
  const area = page.getByRole('button', { name: 'Drop files or folders here' });
  await area.scrollIntoViewIfNeeded();
  const box = (await area.boundingBox())!;
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const tools = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await tools.send('Input.dispatchDragEvent', {
      type,
      ...at,
      data: { items: [], files: [folder], dragOperationsMask: 1 },
    });
  await tools.detach();
}
