"""The Python client of the Model Context Protocol against a running gateway; one JSON line for each check."""

import asyncio
import json
import os
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, HTTPServer

from mcp import Client, MCPError
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

URL = os.environ["TAMIS_URL"] + "/mcp"
TOKEN = os.environ["TAMIS_TOKEN"]
TEXT = os.environ["TAMIS_TEXT"]
PAGE = "<html><body><h1>Ferry</h1><p>The ferry crosses the river every hour.</p></body></html>"
DEADLINE_S = 60


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def signed_in(token=TOKEN):
    return create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})


async def asked(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def introduces_itself(client):
    assert client.server_info.name == "tamis", client.server_info
    assert "search_documents" in client.instructions
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert len(tools) == 15, list(tools)
    assert tools["delete_file"].annotations.destructive_hint is True
    assert tools["search_file"].annotations.read_only_hint is True


async def searches_and_reads(client):
    found = await asked(client, "search_documents", query="When does the mill open?")
    best = found["documents"][0]
    assert "mill" in best["content"] and found["partitions"] == ["mill"], found
    chunk = await asked(client, "get_chunk_by_id", chunk_id=best["chunk_id"])
    assert chunk["content"] == best["content"]
    pages = await asked(client, "get_file_chunks", partition="mill", file_id="hours")
    assert pages["total_chunks"] >= 1 and TEXT[:20] in pages["chunks"][0]["content"], pages
    files = await asked(client, "fuzzy_search_files", query="ours")
    assert files["files"][0]["file_id"] == "hours", files


async def reads_resources_and_prompts(client):
    listed = (await client.list_resources()).resources
    uri = next(str(resource.uri) for resource in listed if resource.name == "mill/hours")
    contents = (await client.read_resource(uri)).contents
    assert json.loads(contents[0].text)["file_id"] == "hours" and TEXT[:20] in contents[1].text, contents
    prompt = await client.get_prompt("answer_from_partition", {"partition": "mill", "question": "When?"})
    assert "search_partition" in prompt.messages[0].content.text, prompt


async def knows_its_refusals(client):
    result = await client.call_tool("list_files", {"partition": "nowhere"})
    assert result.is_error, result
    assert json.loads(result.content[0].text)["status"] == 404, result
    try:
        await client.call_tool("get_task_logs", {})
    except MCPError as error:
        assert "Unknown tool" in str(error), error
    else:
        raise AssertionError("an unknown tool was called")


async def indexes_from_the_web(client):
    site = HTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    told = []

    async def progress(done, total, _message):
        told.append((done, total))

    url = f"http://127.0.0.1:{site.server_port}/ferry"
    arguments = {"url": url, "partition": "web", "file_id": "ferry", "metadata": {"owner": "ada"}}
    result = await client.call_tool("index_url", arguments, progress_callback=progress)
    site.shutdown()
    assert not result.is_error, result.content
    assert told[-1] == (len(PAGE), len(PAGE)), told
    task_id = result.structured_content["task_id"]
    until = time.monotonic() + DEADLINE_S
    while True:
        status = await asked(client, "get_indexation_task_status", task_id=task_id)
        if status["task_state"] not in ("QUEUED", "SERIALIZING"):
            break
        assert time.monotonic() < until, status
        await asyncio.sleep(0.2)
    assert status["task_state"] == "COMPLETED", status
    found = await asked(client, "search_partition", partition="web", query="ferry")
    assert "every hour" in found["documents"][0]["content"], found
    assert found["documents"][0]["metadata"]["owner"] == "ada", found
    await asked(client, "delete_file", partition="web", file_id="ferry")
    assert (await asked(client, "list_files", partition="web"))["files"] == []


async def lets_nobody_else_in(_client):
    try:
        async with signed_in("or-unknown") as http, Client(streamable_http_client(URL, http_client=http)):
            pass
    except Exception:
        return
    raise AssertionError("a wrong token was let in")


CHECKS = [
    introduces_itself,
    searches_and_reads,
    reads_resources_and_prompts,
    knows_its_refusals,
    indexes_from_the_web,
    lets_nobody_else_in,
]


async def main():
    async with signed_in() as http, Client(streamable_http_client(URL, http_client=http)) as client:
        for check in CHECKS:
            try:
                await check(client)
                fault = None
            except Exception:
                fault = traceback.format_exc(limit=-3)
            print(json.dumps({"check": check.__name__, "fault": fault}), flush=True)


asyncio.run(main())
sys.exit(0)
