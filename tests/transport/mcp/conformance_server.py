"""What the protocol's own conformance suite calls, added to the server at /mcp of a real application.

Run by itself it serves that on a free port of this machine, and prints the address.
"""

import base64
import json
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Audio, Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import (
    Completion,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    SamplingMessage,
    SetLevelRequestParams,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
LEVELS = ["option1", "option2", "option3"]


def image() -> Image:
    return Image(data=base64.b64decode(PNG), format="png")


def text_resource(uri: str, text: str, kind: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=kind, text=text))


class Named(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Annotated[str, Field(json_schema_extra={"enum": ["active", "inactive", "pending"]})] = "active"
    verified: bool = True


def titled(key: str, **titles: str) -> dict[str, Any]:
    return {key: [{"const": value, "title": title} for value, title in titles.items()]}


class Enums(BaseModel):
    untitledSingle: Annotated[str, Field(json_schema_extra={"enum": LEVELS})]
    titledSingle: Annotated[
        str, Field(json_schema_extra=titled("oneOf", value1="First Option", value2="Second Option"))
    ]
    legacyEnum: Annotated[
        str,
        Field(
            json_schema_extra={
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            }
        ),
    ]
    untitledMulti: Annotated[list[str], Field(json_schema_extra={"items": {"type": "string", "enum": LEVELS}})]
    titledMulti: Annotated[
        list[str], Field(json_schema_extra={"items": titled("anyOf", value1="First Choice", value2="Second Choice")})
    ]


def add_fixtures(server: MCPServer[Any]) -> None:
    """Add tools, resources and prompts with the names that the suite prescribes."""
    for add in (add_contents, add_conversations, add_elicitations, add_resources, add_prompts):
        add(server)


def add_contents(server: MCPServer[Any]) -> None:
    @server.tool(description="Returns text.")
    def test_simple_text() -> str:
        return "This is a simple text response for testing."

    @server.tool(description="Returns an image.")
    def test_image_content() -> Image:
        return image()

    @server.tool(description="Returns sound.")
    def test_audio_content() -> Audio:
        return Audio(data=base64.b64decode(WAV), format="wav")

    @server.tool(description="Returns a resource.")
    def test_embedded_resource() -> EmbeddedResource:
        return text_resource("test://embedded-resource", "This is an embedded resource content.")

    @server.tool(description="Returns several kinds of content.", structured_output=False)
    def test_multiple_content_types() -> list[Any]:
        data = json.dumps({"test": "data", "value": 123})
        mixed = text_resource("test://mixed-content-resource", data, "application/json")
        return ["Multiple content types test:", image(), mixed]

    @server.tool(description="Fails.")
    def test_error_handling() -> str:
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool(description="Tool with JSON Schema 2020-12 features")
    def json_schema_2020_12_tool(name: str = "", address: Any = None) -> str:
        return f"{name} {address}"

    place = {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
    server._tool_manager.get_tool("json_schema_2020_12_tool").parameters = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": place},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": False,
    }


def add_conversations(server: MCPServer[Any]) -> None:
    async def set_level(_: Any, params: SetLevelRequestParams) -> EmptyResult:
        return EmptyResult()

    server._lowlevel_server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)

    @server.tool(description="Sends log messages.")
    async def test_tool_with_logging(context: Context) -> str:
        for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await context.log("info", message)
            await anyio.sleep(0.05)
        return "Logged three messages."

    @server.tool(description="Reports progress.")
    async def test_tool_with_progress(context: Context) -> str:
        for progress in (0, 50, 100):
            await context.report_progress(progress, 100)
            await anyio.sleep(0.05)
        return "Reported progress."

    @server.tool(description="Samples the client's model.")
    async def test_sampling(prompt: str, context: Context) -> str:
        said = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        found = await context.session.create_message([said], max_tokens=100, related_request_id=context.request_id)
        return f"LLM response: {found.content.text}"

    @server.tool(description="Closes its stream before it answers.")
    async def test_reconnection(context: Context) -> str:
        await context.close_sse_stream()
        await anyio.sleep(0.1)
        return "Reconnected."


def add_elicitations(server: MCPServer[Any]) -> None:
    @server.tool(description="Asks the user.")
    async def test_elicitation(message: str, context: Context) -> str:
        return f"User response: {await context.elicit(message, Named)}"

    @server.tool(description="Asks the user, with defaults.")
    async def test_elicitation_sep1034_defaults(context: Context) -> str:
        return f"Elicitation completed: {await context.elicit('Please fill in', Defaults)}"

    @server.tool(description="Asks the user, with choices.")
    async def test_elicitation_sep1330_enums(context: Context) -> str:
        return f"Elicitation completed: {await context.elicit('Please choose', Enums)}"


def add_resources(server: MCPServer[Any]) -> None:
    @server.resource("test://static-text", name="static-text", description="Text.", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", name="static-binary", description="An image.", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(PNG)

    @server.resource("test://watched-resource", name="watched", description="It never changes.")
    def watched() -> str:
        return "Watched."

    @server.resource("test://template/{id}/data", name="template", mime_type="application/json")
    def template(id: str) -> str:
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def add_prompts(server: MCPServer[Any]) -> None:
    @server.prompt(description="Says something.")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt(description="Says its arguments.")
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(description="Embeds a resource.")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:
        embedded = text_resource(resourceUri, "Embedded resource content for testing.")
        return [UserMessage(embedded), UserMessage("Please process the embedded resource above.")]

    @server.prompt(description="Shows an image.")
    def test_prompt_with_image() -> list[Any]:
        shown = ImageContent(type="image", data=PNG, mime_type="image/png")
        return [UserMessage(shown), UserMessage("Please analyze the image above.")]

    @server.completion()
    async def complete(ref: Any, argument: Any, context: Any) -> Completion:
        return Completion(values=[])
